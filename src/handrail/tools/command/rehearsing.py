"""Rehearsing a command before a person is asked: without an effect, there is no question."""

from dataclasses import dataclass, replace

from handrail.core.errors import CommandExecutionError
from handrail.core.hands import Hands
from handrail.core.rehearsal import Rehearsed
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.policy.rulebook.reading import in_full
from handrail.policy.security import Scene
from handrail.tools.command.result import result_of

# The fact by which a call is known to need no approval.
_FACT = "the rehearsal"
_NO_CHANGE: JsonObject = {_FACT: "changed nothing"}
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class Rehearsing:
    """The stages of one call and how long they may take; `title` is their name for a person."""

    stages: tuple[Stage, ...]
    title: str
    timeout_seconds: int

    async def survey(self, hands: Hands) -> Survey | Finding | None:
        """A survey that needs no approval, or else the reason why a person is asked beforehand.

        None where nothing can be rehearsed; then the machine is looked at as it stands.
        """
        if hands.call is None:
            return None
        try:
            rehearsed = await hands.rehearsals.rehearse(
                hands.call, self.stages, timeout_seconds=self.timeout_seconds
            )
        except CommandExecutionError:
            return None
        if rehearsed.is_complete and not rehearsed.changed:
            return Survey(_NO_CHANGE, changes_nothing=True)
        await hands.rehearsals.take(hands.call)
        return Finding("command.rehearsed", _tell(rehearsed), RiskLevel.LOW)

    async def result(self, hands: Hands) -> ToolResult:
        """The result of the kept rehearsal.

        Raises:
            CommandExecutionError: It is gone; nothing was done.
        """
        rehearsed = None if hands.call is None else await hands.rehearsals.take(hands.call)
        if rehearsed is None:
            raise CommandExecutionError("its rehearsal is gone; nothing was done")
        result = result_of(
            rehearsed.outcome, self.stages, title=self.title, timeout_seconds=self.timeout_seconds
        )
        notes = [*_notes(rehearsed)]
        fields = {**result.fields, "rehearsed": True, "changed": [], "notes": notes}
        told = "".join(f"\n[{note}]" for note in notes)
        return replace(result, output=f"{result.output.rstrip()}{told}".lstrip(), fields=fields)


def may_rehearse(scene: Scene) -> bool:
    """Whether this machine and its policy let commands be rehearsed."""
    return scene.rehearses and scene.isolated and scene.rules.rehearses


def was_rehearsed(facts: JsonObject | None) -> bool:
    return facts is not None and facts == _NO_CHANGE


def _tell(rehearsed: Rehearsed) -> str:
    if rehearsed.ended_by:
        return f"a rehearsal was ended before it was done: {rehearsed.ended_by}"
    return f"in a rehearsal it would change {_first(rehearsed.changed)}"


def _first(paths: tuple[str, ...]) -> str:
    told, rest = ", ".join(map(in_full, paths[:_MOST_TOLD])), len(paths) - _MOST_TOLD
    return f"{told} and {rest:,} more" if rest > 0 else told


def _notes(rehearsed: Rehearsed) -> list[str]:
    """What the output alone does not say, for the agent."""
    notes = ["it changed nothing"]
    if rehearsed.left_running:
        notes.append("processes that it left running were ended")
    if rehearsed.outside:
        told = _first(rehearsed.outside)
        notes.append(f"only the rehearsals of this session see {told}")
    if rehearsed.hosts:
        hosts = ", ".join(rehearsed.hosts)
        notes.append(f"needs network: {hosts}; it had none, so ask for it with that in its words")
    return notes
