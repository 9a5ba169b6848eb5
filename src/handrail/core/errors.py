"""Everything that can go wrong, in one tree.

HandrailError
├── BadInput              what was sent cannot be read
│   ├── TooLarge          … or is more than we take
│   └── UnsupportedType   … or is sent as something other than JSON
├── Unauthenticated       no token, or one we do not know
├── Forbidden             known, but not allowed to do this
├── NotFound              no such thing, or not yours
├── Conflict              the world has moved on
│   ├── ConflictingCall   the same call id with another body
│   ├── ChangeRefused     a precondition of a change no longer holds
│   ├── OfferedAnew       the call is yours, under a newer epoch
│   ├── BudgetExhausted   no tokens are left for today
│   ├── LinkUsed          another browser has signed in with this link
│   └── IllegalTransition no road leads from this state to that one
├── BrokenRecord          the audit does not prove itself
├── StoreUnavailable      the database cannot be read or written now
│   ├── StoreFull         its disk is full
│   ├── StoreLocked       another process holds it locked
│   ├── StoreDamaged      its pages contradict each other
│   └── StoreReplaced     its file was removed or replaced while it was open
├── SetupError            Handrail cannot start like this
│   ├── RuleError         a policy file contradicts itself
│   └── StoreTooNew       the database was written by a newer Handrail
├── BrokenTool            a tool did what no tool may do; becomes a failed result
└── ToolError             a tool could not do its work; becomes a failed result
    ├── PathValidationError
    ├── FileOperationError
    │   ├── StaleFileError
    │   └── FolderError   … because a folder is where a file was meant
    ├── CommandExecutionError
    │   └── StaleCommandError
    ├── StaleMemoryError
    ├── WebError
    ├── DraftDamaged      a session's draft cannot be read
    ├── NotJudged         a call could not be judged, so it is refused
    └── ApprovalDeniedError

Refusals by policy and failures of tools are results that are stored and returned; exceptions
are for broken promises and for what the caller must mend.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeVar

E = TypeVar("E", bound=Exception)


class ErrorType(StrEnum):
    """Why an execution FAILED."""

    VALIDATION = "validation"
    DENIED = "denied"
    TOO_MANY_QUESTIONS = "too_many_questions"
    STALE = "stale"
    CANCELLED = "cancelled"
    NO_CLIENT = "no_client"
    EXECUTION = "execution"
    EXECUTION_TIMEOUT = "execution_timeout"
    OUTCOME_UNKNOWN = "outcome_unknown"
    INTERNAL = "internal"


class HandrailError(Exception):
    """The root: catch this to catch everything Handrail raises on purpose."""

    @property
    def message(self) -> str:
        return str(self)


class BadInput(HandrailError):
    """What was sent cannot be read."""

    error_type = ErrorType.VALIDATION


class TooLarge(BadInput):
    """What was sent is more than Handrail takes."""


class UnsupportedType(BadInput):
    """The body has a content type other than JSON."""


class Unauthenticated(HandrailError):
    """No token was sent, or one that is unknown, revoked or expired."""


class Forbidden(HandrailError):
    """The token is good, but it does not carry this right."""


class NotFound(HandrailError):
    """There is no such thing, or it belongs to somebody else."""


class Conflict(HandrailError):
    """The world is no longer what the caller thinks it is."""


class ConflictingCall(Conflict):
    """The same call id was used before with another body."""


class ChangeRefused(Conflict):
    """A precondition of a change no longer holds; nothing of it was stored."""


class OfferedAnew(Conflict):
    """The call was handed to the same client anew; what it says counts under the new epoch."""


class BudgetExhausted(Conflict):
    """What a person's agents may use on one day is used up."""


class LinkUsed(Conflict):
    """Another browser has signed in with this link."""


class IllegalTransition(Conflict):
    """No road leads from this state to that one."""


class BrokenRecord(HandrailError):
    """The audit, or a checkpoint of it, is not what was once written."""


class StoreUnavailable(HandrailError):
    """The database cannot be read or written now; a change that raises this was not stored."""


class StoreFull(StoreUnavailable):
    """The disk that holds the database has no space left."""


class StoreLocked(StoreUnavailable):
    """Another process has held the lock of the database for too long."""


class StoreDamaged(StoreUnavailable):
    """The content of the database is damaged; only a backup helps."""


class StoreReplaced(StoreUnavailable):
    """The file of the database is no longer the one that was opened."""


class SetupError(HandrailError):
    """Handrail cannot start like this; the message says what to do."""


class RuleError(SetupError):
    """A policy file contradicts itself or cannot be read."""


class StoreTooNew(SetupError):
    """The database was written by a newer Handrail."""


class BrokenTool(HandrailError):
    """A tool raised what it may not raise, or gave back what cannot be told."""

    error_type = ErrorType.INTERNAL


class ToolError(HandrailError):
    """A tool could not do its work."""

    error_type = ErrorType.EXECUTION


class PathValidationError(ToolError):
    """The path leaves the workspace, or leads to something that is not to be touched."""

    error_type = ErrorType.VALIDATION


class FileOperationError(ToolError):
    """The file system said no."""


class FolderError(FileOperationError):
    """A folder is where a file was meant."""


class StaleFileError(FileOperationError):
    """The file is no longer what was looked at and approved; it was left as it is."""

    error_type = ErrorType.STALE


class CommandExecutionError(ToolError):
    """The command could not be started or did not end well."""


class StaleCommandError(CommandExecutionError):
    """What the command would run is no longer what was looked at and approved; nothing ran."""

    error_type = ErrorType.STALE


class StaleMemoryError(ToolError):
    """The memory is no longer what was looked at and approved; it was left as it is."""

    error_type = ErrorType.STALE


class WebError(ToolError):
    """A host may not be reached, or did not answer."""


class DraftDamaged(ToolError):
    """The draft of a session cannot be read; those of others are not affected."""


class NotJudged(ToolError):
    """A call could not be judged in time, so it is refused."""

    error_type = ErrorType.DENIED


class ApprovalDeniedError(ToolError):
    """A person, or this machine's own policy, refused."""

    error_type = ErrorType.DENIED


def leaves(group: BaseExceptionGroup[E]) -> Iterator[E]:
    """The errors in a group, however deep they lie."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error
