"""reach_host: let a program that runs in a draft connect to one host."""

from typing import ClassVar

from pydantic import Field

from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.network.hosts import Host, read_host, validate_host
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams


class ReachHostParams(ToolParams):
    program: str = Field(min_length=1, max_length=100, description="The program that asks.")
    host: str = Field(description="The host with its port, such as `github.com:443`.")


class ReachHost(Tool[ReachHostParams]):
    """The call changes nothing itself: `handrail draft` holds the connection until it ends."""

    name: ClassVar[str] = "reach_host"
    description: ClassVar[str] = (
        "Let a program that `handrail draft` has started connect to a host. The command asks for "
        "this itself when the program tries to connect."
    )
    params = ReachHostParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    effect: ClassVar[Effect] = Effect.CHANGE
    changes: ClassVar[str] = "nothing here; the program can send this host what it has read"
    is_offered: ClassVar[bool] = False
    reserved: ClassVar[bool] = True

    def pre_validate(self, params: ReachHostParams, scene: Scene) -> list[Finding]:
        host = read_host(params.host)
        concerns = validate_host(params.host, exact=True)
        return concerns or (scene.rules.web.judge(host) if isinstance(host, Host) else [])

    def plan(self, params: ReachHostParams, scene: Scene) -> Plan:
        host = read_host(params.host)
        return Plan(hosts=(str(host),)) if isinstance(host, Host) else Plan()

    def lasts(self, params: ReachHostParams) -> bool:
        return True

    def preview(self, params: ReachHostParams) -> str:
        return f"Let {visible(params.program)} connect to {visible(params.host)}"

    def call_class(self, params: ReachHostParams, scene: Scene) -> CallClass | None:
        host = read_host(params.host)
        if isinstance(host, Finding):
            return None
        words = f"connections of {visible(params.program)} to {host}"
        return CallClass(f"reach:{params.program}:{host}", words)

    async def survey(self, params: ReachHostParams, scene: Scene, hands: Hands) -> Survey:
        """Nothing of the machine belongs on the card: the words say it all."""
        return Survey()

    async def execute(
        self,
        params: ReachHostParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        told = f"{visible(params.program)} may connect to {visible(params.host)}"
        return ToolResult(True, told, {"host": params.host})
