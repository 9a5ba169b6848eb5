"""What a tool that runs programs hands back."""

import posixpath
import signal
from collections.abc import Sequence
from dataclasses import asdict

from handrail.core.box import Profile, widest
from handrail.core.errors import ErrorType
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.traffic import Traffic
from handrail.policy.injection.checked import KEPT_FROM_IT
from handrail.policy.redaction import mask_own_tokens
from handrail.policy.rulebook.reading import in_full
from handrail.tools.command.git_remotes import runs_git

_MOST_KEPT_TOLD = 10
# That a command does not see these surprises no agent.
_OWN = frozenset({".git", ".handrail"})


async def run_stages(
    hands: Hands,
    stages: tuple[Stage, ...],
    *,
    title: str,
    timeout_seconds: int,
    facts: JsonObject | None = None,
) -> ToolResult:
    """Run them, and say what came of it; `title` is what a person calls them.

    Raises:
        CommandExecutionError: They could not be started.
        StaleCommandError: The machine does not fit the facts any more.
    """
    if facts is None:
        # Without a survey, no host has been approved.
        stages = tuple(stage._replace(hosts=()) for stage in stages)
    outcome = await hands.commands.run(stages, timeout_seconds=timeout_seconds, expected=facts)
    return result_of(outcome, stages, title=title, timeout_seconds=timeout_seconds)


def result_of(
    outcome: CommandOutcome,
    stages: tuple[Stage, ...],
    *,
    title: str,
    timeout_seconds: int,
    notes: Sequence[str] = (),
) -> ToolResult:
    """The result of stages that ran, or were rehearsed, with further notes for the model."""
    fields: JsonObject = {
        "stdout": _text(outcome.stdout),
        "stderr": _text(outcome.stderr),
        "exit_code": outcome.exit_code,
        "execution_time": round(outcome.seconds, 3),
        "truncated": outcome.stdout_lost + outcome.stderr_lost > 0,
    }
    if outcome.walls:
        profile = widest(stage.profile for stage in stages)
        fields["box"] = {"profile": profile, "walls": list(outcome.walls)}
        if profile is Profile.NET:
            fields["box"] |= _told_of(outcome.traffic)
    if kept := _kept_from(outcome, stages):
        fields["kept_from_it"] = list(kept)
    error, error_type = _failure(outcome, title, timeout_seconds)
    return ToolResult(
        success=error is None and outcome.exit_code == 0,
        output=_told(outcome, fields, error, notes, is_git=any(map(runs_git, stages))),
        fields=fields,
        error=error,
        error_type=error_type,
    )


def _text(stream: bytes) -> str:
    return mask_own_tokens(stream.decode(errors="replace"))


def _failure(
    outcome: CommandOutcome, title: str, timeout_seconds: int
) -> tuple[str, ErrorType] | tuple[None, None]:
    """A command that came to its own end has not failed, whatever its exit code."""
    match outcome.ending:
        case Ending.EXITED:
            return None, None
        case Ending.TIMED_OUT:
            reason = f"{title} was ended: it took more than {timeout_seconds} s"
            return reason, ErrorType.EXECUTION_TIMEOUT
        case Ending.STOPPED:
            return outcome.why_stopped, ErrorType.EXECUTION
        case Ending.KILLED:
            return f"{title} was killed{_by_what(outcome)}", ErrorType.EXECUTION


def _by_what(outcome: CommandOutcome) -> str:
    try:
        return f" by {signal.Signals(-(outcome.exit_code or 0)).name}"
    except ValueError:
        return ""


def _told(
    outcome: CommandOutcome,
    fields: JsonObject,
    error: str | None,
    notes: Sequence[str],
    *,
    is_git: bool,
) -> str:
    """What the model reads: both streams, and in brackets what they do not say."""
    parts = [
        fields["stdout"],
        _lost("stdout", outcome.stdout_lost),
        fields["stderr"],
        _lost("stderr", outcome.stderr_lost),
    ]
    if error is not None:
        parts.append(f"[{error}]")
    elif outcome.exit_code != 0:
        parts.append(f"[exit code {outcome.exit_code}]")
    parts += [f"[not reached: {refused.reason}]" for refused in outcome.traffic.refused]
    parts += [f"[{note}]" for note in notes]
    # The last line, where the scan for suspicious text knows it as ours.
    if kept := fields.get("kept_from_it"):
        parts.append(_tell_kept(kept, outcome.stdout, is_git=is_git))
    told = ""
    for part in filter(None, parts):
        told += part if not told or told.endswith("\n") else f"\n{part}"
    return told


def _kept_from(outcome: CommandOutcome, stages: tuple[Stage, ...]) -> tuple[str, ...]:
    """What it could not see, where that may be why it failed, or why git tells a falsehood."""
    kept = tuple(path for path in outcome.kept_from_it if _OWN.isdisjoint(path.split("/")))
    if outcome.ending is not Ending.EXITED or outcome.exit_code != 0:
        return kept
    if not any(map(runs_git, stages)):
        return ()
    said = outcome.stdout + outcome.stderr
    return tuple(
        path for path in kept if posixpath.basename(path).encode(errors="surrogateescape") in said
    )


def _tell_kept(paths: list[str], said: bytes, *, is_git: bool) -> str:
    told = ", ".join(map(in_full, paths[:_MOST_KEPT_TOLD]))
    rest = len(paths) - _MOST_KEPT_TOLD
    more = f" and {rest:,} more" if rest > 0 else ""
    why = "no command reads these files"
    if is_git:
        why += "; git takes tracked ones for unchanged, and still shows their recorded content"
    if untracked := [path for path in paths if is_git and _is_untracked(path, said)]:
        why += f"; for git to pass over {in_full(untracked[0])}, put it into .gitignore"
    return f"{KEPT_FROM_IT}{told}{more}; {why}]"


def _is_untracked(path: str, said: bytes) -> bool:
    """Whether `git status` has listed it so, in its long or its short form."""
    name = path.encode(errors="surrogateescape")
    _, _, behind = said.partition(b"\nUntracked files:")
    return b"?? " + name in said.splitlines() or b"\t" + name in behind.splitlines()


def _told_of(traffic: Traffic) -> JsonObject:
    """For the record: whom it has spoken to, and to whom it was not let."""
    return {
        "contacted": [asdict(contact) for contact in traffic.contacted],
        "refused": [asdict(refused) for refused in traffic.refused],
    }


def _lost(stream: str, count: int) -> str:
    return f"[{count:,} more bytes of {stream} were not kept]" if count else ""
