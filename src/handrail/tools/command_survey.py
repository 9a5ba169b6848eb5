"""What a tool that runs programs finds out before anybody is asked."""

from collections.abc import Iterator, Sequence

from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.sight import FileSort, SeenFile, SeenStep, Sight
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.visible import cut
from handrail.policy.redaction import mask_text
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
    evidence = cut(mask_text("\n".join(_told(sight))), _MOST_CHARS)
    return Survey(sight.facts, tuple(_reach(stages, sight)), evidence)


def _reach(stages: Sequence[Stage], sight: Sight) -> Iterator[Finding]:
    """What of the network they would reach, and that they reach nothing else."""
    if sight.hosts is None:
        return
    if sight.hosts:
        reason = f"it may reach {', '.join(sight.hosts)}, and nothing else"
    else:
        names = " and ".join(dict.fromkeys(name for stage in stages for name in stage.networks))
        reason = (
            f"it may reach nothing: nobody has said which hosts {names} may reach; name them as"
            " [[network]] in policy.toml, in Handrail's own folder on that machine"
        )
    yield Finding("command.network", reason, RiskLevel.MEDIUM)


def _told(sight: Sight) -> Iterator[str]:
    bound: dict[str, None] = {}
    for step in sight.steps:
        yield from _command(step)
        for file in (*step.files, step.program):
            bound.update(dict.fromkeys(map(_file, (file, *(file.run_by or ())))))
    yield from bound


def _command(step: SeenStep) -> Iterator[str]:
    """The words that run, every one; a script among them as the lines it has."""
    where = "" if step.folder == "." else f"   (in {in_full(step.folder)})"
    plain = [word if "\n" not in word else "│" for word in step.argv]
    yield f"runs     {' '.join(word if word == '│' else in_full(word) for word in plain)}{where}"
    for word in step.argv:
        if "\n" in word:
            yield from (f"{_MARGIN}│ {line}" for line in word.split("\n"))


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
