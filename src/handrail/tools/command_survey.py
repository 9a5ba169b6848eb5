"""What a tool that runs programs finds out before anybody is asked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from handrail.core.box import Profile
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.sight import FileSort, SeenFile, SeenStep, Sight
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.visible import cut
from handrail.policy.redaction import hidden_chars, mask_shown, mask_words
from handrail.policy.rulebook.reading import in_full

_SHORT = 12
_MOST_CHARS = 120_000
_MARGIN = " " * 9


async def survey_stages(hands: Hands, stages: Sequence[Stage]) -> Survey:
    """What they would run as the machine stands, in facts and in words.

    Raises:
        CommandExecutionError: One of the programs is not here.
        PathValidationError: One of them lies elsewhere.
    """
    sight = await hands.commands.look(stages)
    seen = [_Shown.of(step) for step in sight.steps]
    evidence = cut("\n".join(_told(seen)), _MOST_CHARS)
    concerns = (*_reach(stages, sight), *_masked(stages, seen))
    return Survey(sight.facts, concerns, evidence)


def _reach(stages: Sequence[Stage], sight: Sight) -> Iterator[Finding]:
    """What of the network they would reach, and that they reach nothing else."""
    if sight.hosts is not None:
        yield reach(dict.fromkeys(name for stage in stages for name in stage.networks), sight.hosts)


def reach(names: Iterable[str], hosts: Sequence[str]) -> Finding:
    """Which hosts commands with these names may reach."""
    if hosts:
        reason = f"it may reach {', '.join(hosts)}, and nothing else"
    else:
        reason = (
            f"it may reach nothing: nobody has said which hosts {' and '.join(names)} may reach; "
            "name them as [[network]] in policy.toml, in Handrail's own folder on that machine"
        )
    return Finding("command.network", reason, RiskLevel.MEDIUM)


def _masked(stages: Sequence[Stage], seen: Sequence["_Shown"]) -> Iterator[Finding]:
    """What is not shown of that which can do more than look."""
    hidden = sum(
        one.hidden
        for stage, one in zip(stages, seen, strict=True)
        if stage.profile is not Profile.READ
    )
    if hidden:
        reason = f"{hidden:,} characters of what would run look like secrets and are masked"
        yield Finding("command.masked", reason, RiskLevel.HIGH)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A step whose words are masked one by one, and how many characters that has hidden."""

    step: SeenStep
    words: tuple[str, ...]
    hidden: int

    @classmethod
    def of(cls, step: SeenStep) -> "_Shown":
        words = mask_words(step.argv)
        pairs = zip(step.argv, words, strict=True)
        return cls(step, words, sum(hidden_chars(word, masked) for word, masked in pairs))

    def lines(self) -> Iterator[str]:
        """The words that run, every one; scripts among them by number, as the lines they have."""
        where = "" if self.step.folder == "." else f"   (in {in_full(self.step.folder)})"
        scripts = [word for word in self.words if "\n" in word]
        numbers = count(1)
        words = [f"│{next(numbers)}│" if "\n" in word else in_full(word) for word in self.words]
        yield f"runs     {' '.join(words)}{where}"
        for number, script in enumerate(scripts, start=1):
            yield from (f"{number:>{len(_MARGIN)}}│ {line}" for line in script.split("\n"))


def _told(seen: Sequence[_Shown]) -> Iterator[str]:
    bound: dict[str, None] = {}
    for shown in seen:
        yield from shown.lines()
        for file in (*shown.step.files, shown.step.program):
            told = map(_file, (file, *(file.run_by or ())))
            bound.update(dict.fromkeys(map(mask_shown, told)))
    yield from bound


def _file(file: SeenFile) -> str:
    name = in_full(file.path)
    match file.sort:
        case FileSort.FILE:
            return f"bound    {name} as it is: sha256 {file.mark[:_SHORT]}…, {file.size:,} bytes"
        case FileSort.SEVERAL:
            return f"bound    {name} as they are: {file.size:,} files"
        case FileSort.PROGRAM:
            if file.leads_to:
                return f"bound    {name}, a link to the program {in_full(file.leads_to)}"
            return f"bound    {name}, a program of the system"
        case FileSort.ABSENT:
            return f"bound    {name} is not there, and may not come"
        case FileSort.FOLDER:
            return f"unbound  {name} is a folder, and what it holds may change"
        case FileSort.LARGE:
            return f"unbound  {name} is too large to be read first: {file.size:,} bytes"
        case FileSort.UNREAD:
            return f"unbound  {name} cannot be read first"
