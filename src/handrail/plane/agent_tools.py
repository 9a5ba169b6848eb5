"""A ToolExecutor for one agent, called with the name and the parameters of a tool."""

from uuid import uuid4

from handrail.core.access import Principal
from handrail.core.errors import BadInput
from handrail.core.execution import ToolExecution
from handrail.core.ids import CallId, SessionId
from handrail.core.tool import JsonObject, ToolCall
from handrail.plane.executor import ToolExecutor


class AgentTools:
    """Every call is judged, recorded and, where its risk asks for it, approved by a person."""

    def __init__(self, executor: ToolExecutor, agent: Principal):
        if agent.project_id is None:
            raise BadInput("this principal belongs to no project; use the principal of an agent")
        self._executor = executor
        self._agent = agent
        self._project_id = agent.project_id

    async def execute_tool(
        self,
        tool_name: str,
        tool_params: JsonObject,
        session_id: str,
        *,
        reasoning: str | None = None,
        call_id: str | None = None,
    ) -> ToolExecution:
        """Wait until the call has ended: done, refused, failed, or not approved in time.

        With the `call_id` of an earlier call, the call is not made again.

        Raises:
            HandrailError: As `ToolExecutor.propose` does.
        """
        call = ToolCall(
            self._project_id,
            SessionId(session_id),
            CallId(call_id or uuid4().hex),
            tool_name,
            tool_params,
            reasoning,
        )
        return await self._executor.execute_tool(call, self._agent)
