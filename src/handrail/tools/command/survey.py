"""What a card says of commands that a person is asked about before they run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from handrail.core.box import Profile, Room
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.sight import FileSort, SeenFile, SeenStep, Sight
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.visible import cut_middle
from handrail.policy.redaction import mask, mask_text
from handrail.policy.rulebook.reading import in_full
from handrail.policy.validators.unread import is_unread

_SHORT = 12
_MOST_CHARS = 120_000
# Masks make a text longer. A text that is shown whole must not be cut for that.
_MOST_MASKED_CHARS = 3 * _MOST_CHARS
_MARGIN = " " * 9
_NO_BOX = "box      none works on this machine: it runs with all your rights"
_LOADS = "unpinned it may load other files, as they are when it runs"
_MAY_CHANGE = "unpinned an earlier part of the line may change files that a later part uses"


async def survey_stages(hands: Hands, stages: Sequence[Stage]) -> Survey:
    """What they would run as the machine stands, in facts and in words.

    Raises:
        CommandExecutionError: One of the programs is not here.
        PathValidationError: One of them lies elsewhere.
    """
    return survey_of(stages, await hands.commands.look(stages))


def survey_of(stages: Sequence[Stage], sight: Sight, scripts: Sequence[str] = ()) -> Survey:
    """The survey of stages that were looked at; `scripts` are lines of what they run in turn."""
    told = _text(stages, sight.steps, sight, scripts)
    masked = mask_text(_text(stages, [*map(_masked, sight.steps)], sight, scripts))
    concerns = (*_reach(stages, sight), *_cut_off(stages, len(told) - _MOST_CHARS))
    if masked == told:
        return Survey(sight.facts, concerns, cut_middle(told, _MOST_CHARS))
    evidence = cut_middle(masked, _MOST_MASKED_CHARS)
    return Survey(sight.facts, concerns, evidence, unmasked=cut_middle(told, _MOST_CHARS))


def reach(names: Iterable[str], hosts: Sequence[str]) -> Finding:
    """Which hosts commands with these names may reach."""
    if hosts:
        reason = f"it can reach only {', '.join(hosts)}"
    else:
        reason = (
            f"it can reach no host: none is allowed for {' and '.join(names)}; add them as "
            "[[network]] to policy.toml in Handrail's folder on that machine"
        )
    return Finding("command.network", reason, RiskLevel.MEDIUM)


def _reach(stages: Sequence[Stage], sight: Sight) -> Iterator[Finding]:
    if sight.hosts is not None:
        yield reach(dict.fromkeys(name for stage in stages for name in stage.networks), sight.hosts)


def _cut_off(stages: Sequence[Stage], chars: int) -> Iterator[Finding]:
    """How much of the evidence is missing, if the commands can change something."""
    if chars > 0 and any(stage.profile is not Profile.READ for stage in stages):
        reason = f"{chars:,} characters of what would run are not shown"
        yield Finding("command.shown-in-part", reason, RiskLevel.HIGH)


def _masked(step: SeenStep) -> SeenStep:
    stdin = None if step.stdin is None else mask_text(step.stdin)
    return replace(step, argv=tuple(mask(step.argv)), stdin=stdin)


def _text(
    stages: Sequence[Stage], steps: Sequence[SeenStep], sight: Sight, scripts: Sequence[str]
) -> str:
    return "\n".join(
        [
            *(line for step in steps for line in _words(step)),
            *scripts,
            *dict.fromkeys(line for step in steps for line in _bound(step)),
            *_unbound(stages),
            *(f"remote   {in_full(address)}" for address in sight.remotes),
            *_accounts(sight),
            *_box(sight.room),
        ]
    )


def _words(step: SeenStep) -> Iterator[str]:
    """Every word that runs; a script among them by number, with its lines below.

    After them, the text that they read.
    """
    where = "" if step.folder == "." else f"   (in {in_full(step.folder)})"
    scripts = [word for word in step.argv if "\n" in word]
    numbers = count(1)
    words = [f"│{next(numbers)}│" if "\n" in word else in_full(word) for word in step.argv]
    yield f"runs     {' '.join(words)}{where}"
    for number, script in enumerate(scripts, start=1):
        yield from (f"{number:>{len(_MARGIN)}}│ {line}" for line in script.split("\n"))
    if step.stdin is not None:
        yield "reads    this text:"
        given = step.stdin.removesuffix("\n")
        yield from (f"{_MARGIN}│ {line}" for line in given.split("\n"))


def _bound(step: SeenStep) -> Iterator[str]:
    """What the approval covers of the files of a step."""
    yield from map(_file, (*step.files, step.program))
    if (record := step.record) is not None:
        yield f"{'pinned  ' if record.mark else 'unpinned'} {record.told}"


def _file(file: SeenFile) -> str:
    name = in_full(file.path)
    match file.sort:
        case FileSort.FILE:
            content = f"sha256 {file.mark[:_SHORT]}…, {file.size:,} bytes"
            return f"pinned   {name} must not change before it runs ({content})"
        case FileSort.PROGRAM:
            return f"pinned   {name}, a program of the system"
        case FileSort.ABSENT:
            return f"requires {name} must not exist"
        case FileSort.FOLDER:
            return f"unpinned {name} is a folder, and its files may change"
        case FileSort.LARGE:
            return f"unpinned {name} is too large to be checked: {file.size:,} bytes"
        case FileSort.UNREAD:
            return f"unpinned {name} cannot be read"


def _unbound(stages: Sequence[Stage]) -> Iterator[str]:
    writers = [stage.profile is not Profile.READ for stage in stages]
    if any(writers[:-1]) or any(map(is_unread, stages)):
        yield _MAY_CHANGE
    if any(writers):
        yield _LOADS


def _accounts(sight: Sight) -> Iterator[str]:
    """Which program runs as the person, and which cannot."""
    for name, is_given in sight.accounts.items():
        yield (
            f"account  {in_full(name)} alone is given your credential, and acts as you there"
            if is_given
            else f"account  {in_full(name)} gets no credential: you are not signed in with it on "
            f"this machine, or the line reaches other hosts too"
        )


def _box(room: Room | None) -> Iterator[str]:
    """The most that any of them can do, whatever it is told."""
    if room is None:
        yield _NO_BOX
        return
    change = f"can write to this folder {'and its' if room.changes_git else 'except'} .git"
    match room.profile:
        case Profile.READ:
            yield "box      can read this folder, but write nothing; no network"
        case Profile.WRITE:
            yield f"box      {change}; no network"
        case Profile.NET:
            yield f"box      {change}; can reach only the hosts named above"
