"""What became of a call, in words that a model can act on."""

from handrail.core.conversation import ToolAnswer
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.policy.injection.checked import needs_injection_check, origin_of
from handrail.policy.injection.fence import fence
from handrail.policy.shown import shown_to_model

_REFUSED = "Do not ask for the same again: do it another way, or ask the person."
_NO_ANSWER = "No one has refused it. Go on without it if you can, else ask the person what to do."
_UNKNOWN = "it may or may not have happened; check before you do it again"
# Said by Handrail before anything was touched; all other failures can quote what others wrote.
_OUR_WORDS = (ErrorType.VALIDATION, ErrorType.NO_CLIENT, ErrorType.STALE)
_NOT_BEGUN = "not run: its run had been stopped"


def answer_to(tool_use_id: str, ended: ToolExecution) -> ToolAnswer:
    """The answer to a tool use whose call has come to its end; what others wrote is fenced."""
    note = _note_on_change(ended)
    if ended.status is Status.COMPLETED:
        success = bool((ended.result or {}).get("success", True))
        answer = f"{note}{_fenced(ended, _output_of(ended))}"
        return ToolAnswer(tool_use_id, answer, is_error=not success)
    return ToolAnswer(tool_use_id, f"{note}{_why_not(ended)}", is_error=True)


def answer_without_call(tool_use_id: str, why: str = _NOT_BEGUN) -> ToolAnswer:
    return ToolAnswer(tool_use_id, why, is_error=True)


def _note_on_change(ended: ToolExecution) -> str:
    """The sentence about a person's change of the call; it is trusted, so it needs no fence."""
    if ended.revision is None or ended.approved_at is None or not ended.revision.note:
        return ""
    return f"{shown_to_model(ended.revision.note)}\n"


def _fenced(ended: ToolExecution, output: str) -> str:
    text = shown_to_model(output)
    if not text or not needs_injection_check(ended.tool_name):
        return text
    found = (ended.suspicion or {}).get("findings", ())
    return fence(
        text,
        origin=origin_of(ended.tool_name, ended.tool_params),
        suspicious=[f"line {one['line']}: {one['reason']}" for one in found],
    )


def _output_of(ended: ToolExecution) -> str:
    result = ended.result or {}
    output = result.get("output")
    return output if isinstance(output, str) else str(result.get("error") or "")


def _why_not(ended: ToolExecution) -> str:
    error = ended.error or "no reason was given"
    match ended.status, ended.error_type:
        case Status.REJECTED, _:
            return f"{error}\n{_REFUSED}"
        case Status.TIMEOUT, _:
            return f"not run: {error}\n{_NO_ANSWER}"
        case _, ErrorType.TOO_MANY_QUESTIONS:
            return f"not run: {error}"
        case _, ErrorType.DENIED:
            return f"not allowed here: {error}"
        case _, ErrorType.OUTCOME_UNKNOWN:
            return f"outcome unknown: {error}; {_UNKNOWN}"
        case _, ErrorType.CANCELLED:
            return f"cancelled: {error}"
        case _:
            told = _output_of(ended)
            more = f"\n{_fenced(ended, told)}" if told and told != error else ""
            if ended.error_type in _OUR_WORDS:
                return f"failed: {shown_to_model(error)}{more}"
            return f"failed:\n{_fenced(ended, error)}{more}"
