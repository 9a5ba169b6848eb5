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


async def get_call(store: Store, execution_id: ExecutionId, project_id: ProjectId) -> ToolExecution:
    """The call, if it is this project's.

    Raises:
        NotFound: There is none, or it is somebody else's, which is not told apart.
    """
    execution = await store.find_execution(execution_id)
    if execution is None or execution.project_id != project_id:
        raise NotFound(f"there is no execution {execution_id!r}")
    return execution


async def check_not_stopped(store: Store, execution: ToolExecution) -> None:
    """Why a call may not go on.

    Raises:
        Conflict: Its session has been stopped, so nothing but its end will be stored.
    """
    place = await store.find_place(execution.project_id, execution.session_id)
    if place is not None and place.session.stopped_at is not None:
        raise Conflict(f"session {execution.session_id!r} has been stopped")
