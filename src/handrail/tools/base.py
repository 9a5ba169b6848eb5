"""What a tool is: one class that says what it takes, why it may be refused and what it does."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from handrail.core.errors import BadInput
from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject, Site, ToolDefinition, ToolResult, ToolSpec
from handrail.core.verdict import Plan
from handrail.policy.security import Scene


class ToolParams(BaseModel):
    """Parameters are closed: a field nobody declared is an error, not a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


P = TypeVar("P", bound=ToolParams)


class Tool(ABC, Generic[P]):
    """One capability. All but `survey` and `execute` is pure and made from the words alone."""

    name: ClassVar[str]
    description: ClassVar[str]
    params: type[P]
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    # Where judgement begins for a tool of variable risk, whose findings say all; else safety_level.
    floor: ClassVar[RiskLevel | None] = None
    # A parameter that may be as large as a file; past a megabyte it comes as a blob.
    large: ClassVar[str | None] = None
    site: ClassVar[Site] = Site.CLIENT
    effect: ClassVar[Effect] = Effect.CHANGE
    # Parameters, texts or lists of texts, that a person may change before approving a call.
    editable: ClassVar[tuple[str, ...]] = ()
    # Further tools whose rows in policy files hold for this one.
    ruled_as: ClassVar[tuple[str, ...]] = ()
    # What a call changes, as the end of "changes …" on a card.
    changes: ClassVar[str] = ""
    # Whether it decides about the draft of a session; other tools work in it.
    decides_drafts: ClassVar[bool] = False
    # Whether an answer for a whole session leaves it out, since it decides about more than itself.
    reserved: ClassVar[bool] = False
    # Whether agents are told of it; other tools are called by Handrail's own programs.
    is_offered: ClassVar[bool] = True
    # Whether a change that was cut short on the server may simply be made again.
    repeatable: ClassVar[bool] = False

    def __init__(self) -> None:
        self.definition = ToolDefinition(
            name=self.name,
            description=self.description,
            input_schema=self.params.model_json_schema(),
            safety_level=self.safety_level,
            site=self.site,
            effect=self.effect,
            decides_drafts=self.decides_drafts,
            is_offered=self.is_offered,
        )

    def spec(self) -> ToolSpec:
        return self.definition.spec

    def read_params(self, params: JsonObject) -> P:
        """The parameters, checked.

        Raises:
            BadInput: They do not fit; the message names each field that is wrong.
        """
        try:
            return self.params.model_validate(params)
        except ValidationError as error:
            raise BadInput(_in_words(error)) from error

    def judged_length(self, params: JsonObject, params_json: str) -> int:
        """The length of what is judged: of a file's content, no rule looks at the words."""
        large = None if self.large is None else params.get(self.large)
        return len(params_json) - (len(large) if isinstance(large, str) else 0)

    def pre_validate(self, params: P, scene: Scene) -> list[Finding]:
        """Reasons for concern, before anyone is asked. Never raises."""
        return []

    def plan(self, params: P, scene: Scene) -> Plan:
        """What would really happen, for the digest and the card."""
        return Plan()

    def lasts(self, params: P) -> bool:
        """Whether it surely cannot be undone, as its words tell."""
        return False

    @abstractmethod
    def preview(self, params: P) -> str:
        """What will happen, in one sentence for a person."""

    def call_class(self, params: P, scene: Scene) -> CallClass | None:
        """The class a person may let pass for a whole session; None where none is offered."""
        return None

    async def survey(self, params: P, scene: Scene, hands: Hands) -> Survey:
        """Look at the machine, changing nothing, so that a person sees what would happen.

        Raises:
            ToolError: It cannot be done at all; nobody needs to be asked.
        """
        return Survey()

    @property
    def surveys(self) -> bool:
        """Whether the tool has a survey of its own."""
        return type(self).survey is not Tool[Any].survey

    async def expect(
        self, params: P, scene: Scene, hands: Hands, facts: JsonObject | None
    ) -> ToolResult | None:
        """The result of the call where it is certain before anything is changed; else None."""
        return None

    @abstractmethod
    async def execute(
        self, params: P, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        """Do it. `facts` are those of the survey just made, which the world must still fit."""


AnyTool = Tool[Any]


def _in_words(error: ValidationError) -> str:
    lines: list[str] = []
    for problem in error.errors(include_url=False, include_input=False):
        field = ".".join(map(str, problem["loc"])) or "parameters"
        lines.append(f"{field}: {problem['msg'][:1].lower()}{problem['msg'][1:]}")
    return "; ".join(lines)
