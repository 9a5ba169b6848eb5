"""Finding a call, and whether it may come in and go on."""

from handrail.core.audit import canonical
from handrail.core.errors import Conflict, NotFound, TooLarge
from handrail.core.execution import ToolExecution
from handrail.core.ids import ExecutionId, ProjectId
from handrail.core.ports import Store
from handrail.core.tool import JsonObject
from handrail.policy.validators.sizes import SizeLimiter


def check_size(tool_params: JsonObject, params_json: str, large: str | None) -> None:
    """Parameters have a limit; the one that may be large, such as a file, has its own.

    Raises:
        TooLarge: They are more than Handrail takes.
    """
    apart = "" if large is None else canonical(tool_params.get(large, ""))
    for finding in SizeLimiter().check_params(len(params_json) - len(apart)):
        raise TooLarge(finding.reason)


async def get_call(
    store: Store, execution_id: ExecutionId, project_id: ProjectId, agent_id: str | None = None
) -> ToolExecution:
    """The call, if it is this project's. Only its own agent is told that one was removed.

    Raises:
        NotFound: There is none, it belongs to another project, or its record was removed.
    """
    execution = await store.find_execution(execution_id)
    if execution is not None and execution.project_id == project_id:
        return execution
    removed = await store.find_removed(project_id, execution_id)
    if removed is not None and agent_id in (None, removed.agent_id):
        raise NotFound(f"the record of execution {execution_id!r} {removed.in_words}")
    raise NotFound(f"there is no execution {execution_id!r}")


async def check_not_stopped(store: Store, execution: ToolExecution) -> None:
    """Why a call may not go on.

    Raises:
        Conflict: Its session has been stopped, so nothing but its end will be stored.
    """
    place = await store.find_place(execution.project_id, execution.session_id)
    if place is not None and place.session.stopped_at is not None:
        raise Conflict(f"session {execution.session_id!r} has been stopped")


async def check_not_removed(store: Store, execution: ToolExecution) -> None:
    """Why a call cannot be stored under its call id.

    Raises:
        Conflict: A call had that id whose record was removed, so nothing can be said of it now.
    """
    removed = await store.find_removed_call(
        execution.project_id, execution.session_id, execution.call_id
    )
    if removed is not None:
        raise Conflict(
            f"call {execution.call_id!r} was asked before, and its record {removed.in_words}; "
            "it is not run again under this call_id"
        )
