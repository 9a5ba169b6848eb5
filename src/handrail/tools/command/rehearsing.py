"""Rehearsing a command before a person is asked: they see its effects, and without any no card."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from handrail.core.errors import CommandExecutionError, ErrorType, ToolError
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.rehearsal import REHEARSAL, Rehearsed
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.visible import cut_middle, visible
from handrail.policy.effects import judge_effects
from handrail.policy.redaction import mask_text
from handrail.policy.rulebook.reading import in_full
from handrail.policy.rulebook.rules import Rules
from handrail.policy.security import Scene
from handrail.tools.command.git_remotes import facts_of_look, pushes, why_not_applied
from handrail.tools.command.result import result_of
from handrail.tools.effects import show_effects, sum_up

_NO_CHANGE: JsonObject = {REHEARSAL: "changed nothing"}
_CHANGED_NOTHING = "it changed nothing"
_MOST_TOLD = 3
_MOST_OUTPUT_CHARS = 20_000
_MOST_EVIDENCE_CHARS = 480_000
_MARGIN = " " * 9


@dataclass(frozen=True, slots=True)
class Rehearsing:
    """The stages of one call and how long they may take.

    `title` is their name in a sentence, `preview` what a card says of them.
    """

    stages: tuple[Stage, ...]
    title: str
    preview: str
    timeout_seconds: int

    async def survey(self, hands: Hands, scene: Scene) -> Survey | Finding | None:
        """The effects of the command, or the reason why a person is asked before it runs.

        None where the call is not known by an id, by which a rehearsal is kept.
        """
        if hands.call is None:
            return None
        try:
            rehearsed = await hands.rehearsals.rehearse(
                hands.call, self.stages, timeout_seconds=self.timeout_seconds
            )
        except CommandExecutionError as error:
            return Finding("command.not-rehearsed", error.message, RiskLevel.LOW)
        if not rehearsed.is_complete:
            await hands.rehearsals.drop(hands.call)
            reason = f"a rehearsal does not show its effects: {rehearsed.ended_by}"
            return Finding("command.not-rehearsed", reason, RiskLevel.LOW)
        if rehearsed.effects.is_empty:
            return Survey(_NO_CHANGE, changes_nothing=True)
        effects, rules = rehearsed.effects, scene.rules
        shown = replace(effects, dropped=(*rehearsed.caches, *effects.dropped))
        drawn = await hands.rehearsals.show(
            hands.call, lambda contents: show_effects(shown, rules, contents)
        )
        told = "".join(f"{line}\n" for line in self._about(rehearsed)) + drawn.text
        masked = mask_text(told)
        too_long = max(len(told), len(masked)) - _MOST_EVIDENCE_CHARS
        return Survey(
            rehearsed.facts,
            (*judge_effects(effects, rules), *_shown_in_part(drawn.not_shown, too_long)),
            cut_middle(masked, _MOST_EVIDENCE_CHARS),
            unmasked=None if masked == told else cut_middle(told, _MOST_EVIDENCE_CHARS),
            summary=f"{self.preview}: {sum_up(effects)}",
            rehearsed=True,
        )

    async def expect(self, hands: Hands) -> ToolResult | None:
        """The result that the call will have once its effects are applied."""
        rehearsed = None if hands.call is None else await hands.rehearsals.find(hands.call)
        return None if rehearsed is None else self._result(rehearsed, in_draft=hands.in_draft)

    async def apply(self, hands: Hands) -> ToolResult:
        """Apply the effects of the kept rehearsal.

        Raises:
            CommandExecutionError: It is gone; nothing was done.
            StaleFileError: The workspace was changed since; nothing was done.
        """
        result = await self.expect(hands)
        if result is None or hands.call is None:
            raise CommandExecutionError("its rehearsal is gone; nothing was done")
        await hands.rehearsals.apply(hands.call)
        return result

    async def carry_out(self, hands: Hands, rules: Rules, facts: JsonObject) -> ToolResult:
        """Run approved stages in which git reaches remotes, and apply what they changed here.

        Raises:
            CommandExecutionError: They could not be started.
            StaleCommandError: The machine does not fit the facts any more; nothing was started.
        """
        call = hands.call
        if call is None:
            raise CommandExecutionError("its changes cannot be kept without the id of the call")
        done = await hands.rehearsals.carry_out(
            call, self.stages, timeout_seconds=self.timeout_seconds, expected=facts_of_look(facts)
        )
        result = self._result(done, in_draft=hands.in_draft)
        # A push that changes nothing here has not changed nothing.
        output = result.output.replace(f"[{_CHANGED_NOTHING}]", "").rstrip() + "\n"
        result = replace(result, output=output)
        fields = {**result.fields, "rehearsed": False}
        fields |= {"can_undo": False} if pushes(self.stages) else {}
        result = replace(result, fields=fields)
        if done.effects.is_empty or result.error is not None:
            await hands.rehearsals.drop(call)
            return result
        if why := why_not_applied(done, self.stages, rules):
            await hands.rehearsals.drop(call)
            return self._unapplied(done, why)
        try:
            # What was pushed stays at the remote.
            await hands.rehearsals.apply(call, can_undo=not pushes(self.stages))
        except ToolError as error:
            return self._unapplied(done, error.message)
        return result

    def _unapplied(self, done: Rehearsed, why: str) -> ToolResult:
        """What git did at a remote cannot be taken back, but nothing has changed here."""
        told = f"nothing was changed here: {why}"
        if pushes(self.stages):
            told += "; what it has pushed is at the remote"
        else:
            told += "; fetch by itself, and do the rest as another command: its card shows that"
        result = result_of(
            done.outcome, self.stages, title=self.title, timeout_seconds=self.timeout_seconds
        )
        fields: JsonObject = {**result.fields, "changed": [], "can_undo": False}
        return replace(
            result,
            success=False,
            output=f"{result.output.rstrip()}\n[{told}]".lstrip(),
            error=told,
            error_type=ErrorType.EXECUTION,
            fields=fields,
        )

    def _result(self, rehearsed: Rehearsed, *, in_draft: bool) -> ToolResult:
        notes = [*_notes(rehearsed, in_draft=in_draft)]
        result = result_of(
            rehearsed.outcome,
            self.stages,
            title=self.title,
            timeout_seconds=self.timeout_seconds,
            notes=notes,
        )
        changed = [change.path for change in rehearsed.changes]
        fields = {**result.fields, "rehearsed": True, "changed": changed, "notes": notes}
        if not in_draft and not rehearsed.effects.is_empty:
            fields["can_undo"] = True
        return replace(result, output=result.output.lstrip(), fields=fields)

    def _about(self, rehearsed: Rehearsed) -> Iterator[str]:
        """The command and its output, in lines that no line of a diff can be taken for."""
        for stage in self.stages:
            yield f"runs     {' '.join(map(in_full, stage.argv))}"
        yield f"rehearsed without network, {_ending(rehearsed.outcome)}"
        outcome = rehearsed.outcome
        output = (outcome.stdout + outcome.stderr).decode(errors="replace")
        if text := visible(output.rstrip(), keep="\n\t"):
            yield "output"
            lines = cut_middle(text, _MOST_OUTPUT_CHARS).split("\n")
            yield from (f"{_MARGIN}│ {line}" for line in lines)


def may_rehearse(scene: Scene) -> bool:
    """Whether the policy lets commands be rehearsed; a machine that cannot says why on the card."""
    return scene.isolated and scene.rules.rehearses


def _ending(outcome: CommandOutcome) -> str:
    if outcome.ending is Ending.EXITED:
        return f"exit code {outcome.exit_code}, {outcome.seconds:.1f} s"
    return f"ended after {outcome.seconds:.1f} s: {outcome.why_stopped or outcome.ending}"


def _shown_in_part(not_shown: str, too_long: int) -> Iterator[Finding]:
    """A person must not take the part of the effects that is shown for all of them."""
    reasons = [not_shown]
    if too_long > 0:
        reasons.append(f"{too_long:,} characters of its effects are not shown")
    if reason := "; ".join(filter(None, reasons)):
        yield Finding("effects.shown-in-part", reason, RiskLevel.HIGH)


def _first(paths: Sequence[str]) -> str:
    told, rest = ", ".join(map(in_full, paths[:_MOST_TOLD])), len(paths) - _MOST_TOLD
    return f"{told} and {rest:,} more" if rest > 0 else told


def _notes(rehearsed: Rehearsed, *, in_draft: bool) -> Iterator[str]:
    """What the output alone does not say, for the agent."""
    if rehearsed.changes:
        changed = "changed in the draft" if in_draft else "changed"
        yield f"{changed}: {_first([change.path for change in rehearsed.changes])}"
    yield from (f"git: {note.words}" for note in rehearsed.effects.git.notes[:_MOST_TOLD])
    if rehearsed.effects.is_empty:
        yield _CHANGED_NOTHING
    if rehearsed.left_running:
        yield "processes that it left running were ended"
    if rehearsed.outside:
        yield f"only the rehearsals of this session see {_first(rehearsed.outside)}"
    if rehearsed.hosts:
        hosts = ", ".join(rehearsed.hosts)
        told = f"needs network: {hosts}; it had none. If it failed for that, call it again with"
        yield f"{told} hosts={json.dumps(rehearsed.hosts)}, and a person is asked first"
