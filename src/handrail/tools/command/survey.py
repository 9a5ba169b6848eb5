"""What a tool that runs programs finds out before anybody is asked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from handrail.core.box import Profile, Room
from handrail.core.errors import StaleCommandError
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.sight import FileSort, SeenFile, SeenRecord, SeenStep, Sight, tell_differing
from handrail.core.stage import Stage, pipelines
from handrail.core.survey import Survey
from handrail.core.visible import cut_middle
from handrail.policy.redaction import mask, mask_text
from handrail.policy.rulebook.reading import in_full

_BASH = "bash"
_SHORT = 12
_MOST_CHARS = 120_000
# Masks make a text longer. A text that is shown whole must not be cut for that.
_MOST_MASKED_CHARS = 3 * _MOST_CHARS
_MARGIN = " " * 9
_NO_BOX = "box      none works on this machine: it runs with all your rights"
_LOADS = "unpinned other files this program loads are not checked"
_MAY_CHANGE = "an earlier part of the line may change it"


async def survey_stages(
    hands: Hands,
    stages: Sequence[Stage],
    names: Sequence[tuple[tuple[str, ...], ...]] | None = None,
) -> Survey:
    """What they would run as the machine stands, in facts and in words.

    `names` are what their patterns stand for, where somebody has judged those.

    Raises:
        CommandExecutionError: One of the programs is not here.
        PathValidationError: One of them lies elsewhere.
        StaleCommandError: Their patterns stand for other names by now.
    """
    sight = await hands.commands.look(stages)
    if names is not None and [step.names for step in sight.steps] != [*names]:
        raise StaleCommandError(tell_differing(["the names that patterns stand for"]))
    looseness = zip(_loose(stages), _behind_writers(stages), strict=True)
    seen = [
        _Shown(step, step.argv, *each) for step, each in zip(sight.steps, looseness, strict=True)
    ]
    told = _text(seen, sight)
    masked = mask_text(_text([one.masked() for one in seen], sight))
    concerns = (
        *_reach(stages, sight),
        *_changeable(seen),
        *_cut_off(stages, len(told) - _MOST_CHARS),
    )
    if masked == told:
        return Survey(sight.facts, concerns, cut_middle(told, _MOST_CHARS))
    evidence = cut_middle(masked, _MOST_MASKED_CHARS)
    return Survey(sight.facts, concerns, evidence, unmasked=cut_middle(told, _MOST_CHARS))


def _text(seen: Sequence["_Shown"], sight: Sight) -> str:
    return "\n".join([*_told(seen), *_remotes(sight.remotes), *_box(sight.room)])


def _reach(stages: Sequence[Stage], sight: Sight) -> Iterator[Finding]:
    """What of the network they would reach, and that they reach nothing else."""
    if sight.hosts is not None:
        yield reach(dict.fromkeys(name for stage in stages for name in stage.networks), sight.hosts)


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


def _loose(stages: Sequence[Stage]) -> Iterator[bool]:
    """Whether something that runs beside a stage could exchange its files behind the last look.

    In a line that runs as bash, anything could.
    """
    for pipeline in pipelines(stages):
        writing = [stage.profile is not Profile.READ for stage in pipeline]
        for stage, is_own in zip(pipeline, writing, strict=True):
            yield sum(writing) > is_own or stage.argv[0] == _BASH


def _behind_writers(stages: Sequence[Stage]) -> Iterator[bool]:
    """Whether something that runs before a stage could write the files that it is told of."""
    writes = False
    for pipeline in pipelines(stages):
        yield from (writes for _ in pipeline)
        writes = writes or any(stage.profile is not Profile.READ for stage in pipeline)


def _changeable(seen: Sequence["_Shown"]) -> Iterator[Finding]:
    loose = [one for one in seen if one.is_loose]
    names = [
        in_full(file.path)
        for one in loose
        for file in (*one.files, *(one.step.named or ()))
        if _is_here(file)
    ]
    if names or any(one.step.named is not None for one in loose):
        # A folder is not looked into, and what is not there yet can still come.
        what = names[0] if names else "a file that it uses"
        reason = f"{what} may be changed by an earlier part of the line"
        yield Finding("command.changed-beside", reason, RiskLevel.HIGH)


def _cut_off(stages: Sequence[Stage], chars: int) -> Iterator[Finding]:
    """How much of the evidence is missing, if the commands can change something."""
    if chars > 0 and any(stage.profile is not Profile.READ for stage in stages):
        reason = f"{chars:,} characters of what would run are not shown"
        yield Finding("command.shown-in-part", reason, RiskLevel.HIGH)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A step and the words to show of it.

    Of one that `is_loose`, files can change after the last look at them; of one that `is_later`,
    those can that it is told of without running them.
    """

    step: SeenStep
    words: tuple[str, ...]
    is_loose: bool
    is_later: bool

    def masked(self) -> "_Shown":
        stdin = self.step.stdin
        step = self.step if stdin is None else replace(self.step, stdin=mask_text(stdin))
        return replace(self, step=step, words=tuple(mask(self.words)))

    @property
    def files(self) -> tuple[SeenFile, ...]:
        return (*self.step.files, self.step.program)

    def lines(self) -> Iterator[str]:
        """The words that run, every one; scripts among them by number, as the lines they have.

        Behind them, the text that they read.
        """
        where = "" if self.step.folder == "." else f"   (in {in_full(self.step.folder)})"
        scripts = [word for word in self.words if "\n" in word]
        numbers = count(1)
        words = [f"│{next(numbers)}│" if "\n" in word else in_full(word) for word in self.words]
        yield f"runs     {' '.join(words)}{where}"
        for number, script in enumerate(scripts, start=1):
            yield from (f"{number:>{len(_MARGIN)}}│ {line}" for line in script.split("\n"))
        if self.step.stdin is not None:
            yield "reads    this text:"
            given = self.step.stdin.removesuffix("\n")
            yield from (f"{_MARGIN}│ {line}" for line in given.split("\n"))


def _told(seen: Sequence[_Shown]) -> Iterator[str]:
    bound: dict[str, None] = {}
    missing: dict[bool, dict[str, None]] = {False: {}, True: {}}
    for shown in seen:
        yield from shown.lines()
        for file in shown.files:
            files = (file, *(file.run_by or ()))
            there = [one for one in files if not _is_missing(one)]
            missing[shown.is_loose] |= dict.fromkeys(one.path for one in files if _is_missing(one))
            told = [_loosely(one) if shown.is_loose else _file(one) for one in there]
            bound.update(dict.fromkeys(told))
        tell = _loosely if shown.is_loose or shown.is_later else _file
        bound.update(dict.fromkeys(tell(file) for file in shown.step.named or ()))
        if (record := shown.step.record) is not None:
            bound[_recorded(record, may_change=shown.is_loose or shown.is_later)] = None
    yield from bound
    if missing[False]:
        yield f"requires {_must_not_exist([*missing[False]])}"
    if missing[True]:
        yield f"at first {_missing([*missing[True]])}; {_MAY_CHANGE}"
    if any(shown.step.loads for shown in seen):
        yield _LOADS


def _remotes(addresses: Sequence[str]) -> Iterator[str]:
    """Where git goes to, which its words need not say."""
    yield from (f"remote   {in_full(address)}" for address in addresses)


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


def _is_here(file: SeenFile) -> bool:
    """Whether it is in the workspace, or may come to be."""
    return file.sort is not FileSort.PROGRAM


def _is_missing(file: SeenFile) -> bool:
    """Whether it is a name under which something would be run, and nothing is."""
    return file.sort is FileSort.ABSENT or (file.sort is FileSort.SEVERAL and file.size == 0)


def _must_not_exist(paths: Sequence[str]) -> str:
    return f"{_first_of(paths)} must not exist"


def _missing(paths: Sequence[str]) -> str:
    return f"{_first_of(paths)} {'does' if len(paths) == 1 else 'do'} not exist"


def _first_of(paths: Sequence[str]) -> str:
    """Of a module there may be a dozen: one is named, and the others are counted."""
    rest = len(paths) - 1
    others = f" and {rest:,} other file{'s' if rest > 1 else ''} that it would load" if rest else ""
    return f"{in_full(paths[0])}{others}"


def _loosely(file: SeenFile) -> str:
    """A file as it is, which need not stay so until it is run."""
    if not _is_here(file):
        return _file(file)
    name = in_full(file.path)
    match file.sort:
        case FileSort.FILE | FileSort.SEVERAL:
            return f"at first {name} ({_content(file)}); {_MAY_CHANGE}"
        case FileSort.ABSENT:
            return f"at first {_missing([file.path])}; {_MAY_CHANGE}"
        case _:
            return _file(file)


def _recorded(record: SeenRecord, *, may_change: bool) -> str:
    if not record.mark:
        return f"unpinned {record.told}"
    return f"at first {record.told}; {_MAY_CHANGE}" if may_change else f"pinned   {record.told}"


def _content(file: SeenFile) -> str:
    if file.sort is FileSort.SEVERAL:
        return f"{file.size:,} files"
    return f"sha256 {file.mark[:_SHORT]}…, {file.size:,} bytes"


def _file(file: SeenFile) -> str:
    name = in_full(file.path)
    match file.sort:
        case FileSort.FILE:
            return f"pinned   {name} must not change before it runs ({_content(file)})"
        case FileSort.SEVERAL:
            return f"pinned   {name} must not change before they run ({_content(file)})"
        case FileSort.PROGRAM:
            if file.leads_to:
                return f"pinned   {name}, a link to the program {in_full(file.leads_to)}"
            return f"pinned   {name}, a program of the system"
        case FileSort.ABSENT:
            return f"requires {_must_not_exist([file.path])}"
        case FileSort.FOLDER:
            return f"unpinned {name} is a folder, and its files may change"
        case FileSort.LARGE:
            return f"unpinned {name} is too large to be checked: {file.size:,} bytes"
        case FileSort.UNREAD:
            return f"unpinned {name} cannot be read"
