"""The words of commands in full: with the names that patterns stand for, and where links lead.

The same is said of them as of words that were typed so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from handrail.core.errors import CommandExecutionError, PathValidationError, StaleCommandError
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.sight import differing, tell_differing
from handrail.core.stage import Stage, pipelines, word_for
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject
from handrail.policy.validators.scripts import ScriptValidator, Spelt
from handrail.tools.command.files import check_files
from handrail.tools.command.survey import survey_stages

Names = Sequence[tuple[tuple[str, ...], ...]]

_LINKS = "where links lead"


@dataclass(frozen=True, slots=True)
class Looked:
    """The concerns about one command in full, and where the links lead by which it writes."""

    findings: tuple[Finding, ...]
    leading: dict[str, str]

    @property
    def risk(self) -> RiskLevel:
        return worst(self.findings)

    def refuse_above(self, most: RiskLevel) -> None:
        """Refuse what comes to more than somebody could have said yes to."""
        if self.risk > most:
            reasons = [finding.reason for finding in self.findings if finding.risk > most]
            raise PathValidationError("; ".join(reasons))


class FullLine:
    """The commands of one call as they stand now; `spell` puts names in the place of patterns.

    `judged` is what was said of the words before.
    """

    def __init__(
        self,
        hands: Hands,
        stages: tuple[Stage, ...],
        spell: Callable[[Names], list[Spelt]],
        judged: Sequence[Finding],
        names: Names | None = None,
    ):
        self._hands = hands
        self._spell = spell
        self._judged = judged
        self._names = [() for _ in stages] if names is None else names
        self._each = spell(self._names)
        self._looked: list[Looked] = []
        # The programs of the workspace that bare names mean.
        self._own: list[str | None] = []
        self._pinned = 0
        self.stages = stages
        if any(stage.patterns for stage in stages):
            pairs = zip(stages, self._each, strict=True)
            self.stages = tuple(_with_scripts(stage, spelt) for stage, spelt in pairs)

    async def survey(self) -> Survey:
        """What they would run, with what is to be said of their words in full.

        Raises:
            PathValidationError: A path leads outside, or to what is protected.
            StaleCommandError: Names have come or gone in the meantime.
        """
        facts = await self._look()
        survey = await survey_stages(self._hands, self.stages, self._names)
        seen = [finding for one in self._looked for finding in one.findings]
        further = [finding for finding in seen if finding not in self._judged]
        return replace(
            survey,
            facts={**survey.facts, **facts},
            findings=(*survey.findings, *dict.fromkeys(further)),
        )

    async def hold_against(self, facts: JsonObject | None) -> JsonObject | None:
        """The facts that remain to be held against the machine, once these words are looked at.

        Without facts, nobody has seen more than the words as they were judged.

        Raises:
            PathValidationError: In full they come to more than that, or to what is refused.
            StaleCommandError: Links lead elsewhere by now.
            CommandExecutionError: Without facts, a name means a program of the workspace.
        """
        now = await self._look()
        for stage, path in zip(self.stages, self._own, strict=True):
            if facts is None and path is not None:
                raise CommandExecutionError(
                    f"`{stage.argv[0]}` means {path}, a program of the workspace that was not "
                    f"checked before; ask again, or call {path} by its path"
                )
        most = worst(self._judged) if facts is None else RiskLevel.CRITICAL
        for looked in self._looked:
            looked.refuse_above(most)
        if facts is None:
            return None
        own = {name: fact for name, fact in facts.items() if name == _LINKS}
        if other := differing(own, now):
            raise StaleCommandError(tell_differing(other))
        self._pinned = len(pipelines(self.stages)[0])
        return {name: fact for name, fact in facts.items() if name not in own}

    async def check(self, place: int) -> None:
        """Look once more before a command starts: what ran before may have put files there.

        Raises:
            PathValidationError: It has become something else.
        """
        if place >= len(self._each):
            return
        before = self._looked[place]
        try:
            now = await self._look_at(place, await self._spelt_now(place))
            now.refuse_above(before.risk)
            for path, true_path in now.leading.items():
                if before.leading.get(path) != true_path:
                    raise PathValidationError(f"{path} leads to {true_path} by now")
        except PathValidationError as error:
            if place == 0:
                raise
            raise PathValidationError(
                f"{error}; what stands before it on the line has been run"
            ) from error

    async def _look(self) -> JsonObject:
        """Look at each of the commands; what nobody else holds against the machine, as facts."""
        find = self._hands.commands.find_workspace_program
        self._own = [await find(stage) for stage in self.stages]
        self._looked = [await self._look_at(place, spelt) for place, spelt in enumerate(self._each)]
        leading = {path: leads for one in self._looked for path, leads in one.leading.items()}
        return {_LINKS: leading} if leading else {}

    async def _look_at(self, place: int, spelt: Spelt) -> Looked:
        """A name that means a program of the workspace is judged as that program's path."""
        stage, path = self.stages[place], self._own[place]
        if path is not None:
            spelt = spelt._replace(command=word_for(stage, spelt.validator.root, path))
        return await _look_at(self._hands, spelt)

    async def _spelt_now(self, place: int) -> Spelt:
        stage = self.stages[place]
        if not stage.patterns or place < self._pinned:
            return self._each[place]
        names = list(self._names)
        names[place : place + 1] = await _names_in(self._hands, [stage])
        return self._spell(names)[place]


async def in_full(
    hands: Hands, validator: ScriptValidator, line: str, stages: tuple[Stage, ...]
) -> FullLine:
    """The line with the names that its patterns stand for now, bound to the scripts of those.

    Raises:
        CommandExecutionError: A program or a folder is not here.
        PathValidationError: One of them lies elsewhere.
    """
    judged = validator.validate_script(line)
    has_patterns = any(stage.patterns for stage in stages)
    names = await _names_in(hands, stages) if has_patterns else None
    return FullLine(hands, stages, lambda names: validator.spelt(line, names), judged, names)


async def _look_at(hands: Hands, spelt: Spelt) -> Looked:
    validator, command, args = spelt
    findings = validator.validate_command(command, args)
    files = [(validator.folder, False), *validator.files_of(command, args)]
    leading = await check_files(hands, files, validator.programs_of(command, args))
    return Looked(tuple(findings), leading)


async def _names_in(hands: Hands, stages: Sequence[Stage]) -> Names:
    bare = [stage._replace(scripts=(), networks=()) for stage in stages]
    return [step.names for step in (await hands.commands.look(bare)).steps]


def _with_scripts(stage: Stage, spelt: Spelt) -> Stage:
    if not stage.patterns or any(script.is_pattern for script in stage.scripts):
        return stage
    further = spelt.validator.stage_of(spelt.command, spelt.args).scripts
    return stage._replace(scripts=tuple(dict.fromkeys((*stage.scripts, *further))))
