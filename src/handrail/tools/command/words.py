"""The commands of one call as the machine stands: patterns expanded, links followed.

The expanded words are judged as if they had been typed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, PathValidationError
from handrail.core.hands import Hands
from handrail.core.risk import Finding, worst
from handrail.core.sight import FileSort, SeenFile, Sight
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.policy.security import Scene
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.paths import plain
from handrail.policy.validators.unread import is_unread
from handrail.tools.command.package_scripts import script_lines
from handrail.tools.command.survey import survey_of


@dataclass(frozen=True, slots=True)
class FullLine:
    """The stages of one call; `judged` is what was said of their words."""

    hands: Hands
    scene: Scene
    stages: tuple[Stage, ...]
    judged: Sequence[Finding]

    async def survey(self) -> Survey:
        """What they would run, with the concerns about their words in full.

        Raises:
            CommandExecutionError: A program or a folder is not here.
            PathValidationError: A path leads outside, or to a protected file.
        """
        await self._check_typed()
        sight = await self.hands.commands.look(self.stages)
        found = await self._judge(sight)
        scripts = await script_lines(self.hands.files, sight.steps)
        survey = survey_of(self.stages, sight, scripts)
        further = [finding for finding in found if finding not in self.judged]
        return replace(survey, findings=(*survey.findings, *dict.fromkeys(further)))

    async def check_unsurveyed(self) -> None:
        """Check a call of which only the words were judged.

        Raises:
            CommandExecutionError: A bare name means a program of the workspace.
            PathValidationError: A path leads outside or to a protected file, or the words in full
                are riskier than the words that were judged.
        """
        await self._check_typed()
        if not any(stage.patterns or stage.profile is not Profile.READ for stage in self.stages):
            return
        sight = await self.hands.commands.look(self.stages)
        for stage, step in zip(self.stages, sight.steps, strict=True):
            if step.own is not None:
                path = step.own.path
                raise CommandExecutionError(
                    f"`{stage.argv[0]}` means {path}, a program of the workspace that was not "
                    f"checked before; ask again, or call {path} by its path"
                )
        most = worst(self.judged)
        if reasons := [one.reason for one in await self._judge(sight) if one.risk > most]:
            raise PathValidationError("; ".join(reasons))

    async def _check_typed(self) -> None:
        """Check the paths as they were typed, before a look opens one."""
        for stage in self.stages:
            await self.hands.files.check(stage.folder, writing=False)
            if not is_unread(stage):
                await self._check_files(stage, stage.argv)

    async def _judge(self, sight: Sight) -> list[Finding]:
        """Concerns about words that a look has changed: names of patterns, workspace programs."""
        findings: list[Finding] = []
        for stage, step in zip(self.stages, sight.steps, strict=True):
            if not is_unread(stage):
                await self._check_programs(stage, step.argv, step.files)
            if stage.patterns or step.own is not None:
                command, *args = step.argv
                findings += self._validator(stage).validate_command(command, args)
                await self._check_files(stage, step.argv)
        return findings

    async def _check_files(self, stage: Stage, argv: Sequence[str]) -> None:
        command, *args = argv
        for path, written in self._validator(stage).files_of(command, args):
            await self.hands.files.check(path, writing=written)

    async def _check_programs(
        self, stage: Stage, argv: Sequence[str], seen: Sequence[SeenFile]
    ) -> None:
        """A link in the workspace may lead to a program that nothing in a box can change."""
        command, *args = argv
        kept = {file.path for file in seen if file.sort is FileSort.PROGRAM}
        for path in self._validator(stage).programs_of(command, args):
            try:
                await self.hands.files.check(path, writing=False)
            except PathValidationError:
                folder = path.rpartition("/")[0] or "."
                await self.hands.files.check(folder, writing=False)
                if plain(path) not in kept:
                    raise

    def _validator(self, stage: Stage) -> CommandValidator:
        return CommandValidator(self.scene.workspace, self.scene.rules, stage.folder)
