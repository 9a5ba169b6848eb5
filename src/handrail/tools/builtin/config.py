"""config: the person's settings, of which an agent may see all and change a few."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from handrail.core.configuration import (
    MOST_KEY_CHARS,
    MOST_TEXT_CHARS,
    SETTINGS,
    Entry,
    Kind,
    Shown,
    no_such_setting,
    tell_unknown,
    why_not_by_agent,
)
from handrail.core.errors import ErrorType, Forbidden, SetupError, ToolError
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.visible import cut, visible
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams

_PREVIEWED_CHARS = 2_000


class ConfigParams(ToolParams):
    action: Literal["list", "get", "set", "append"] = Field(
        description="`append` adds a line to a text; `list` takes neither key nor value."
    )
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_KEY_CHARS,
        description="The setting, such as `agent.instructions`.",
    )
    value: str | int | None = Field(default=None, description="The new value, or the text to add.")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.key is None) != (self.action == "list"):
            raise ValueError("get, set and append need a key, and list takes none")
        if (self.value is None) != (self.action in ("get", "list")):
            raise ValueError("set and append need a value, and get and list take none")
        if isinstance(self.value, str) and len(self.value) > MOST_TEXT_CHARS:
            raise ValueError(f"a value has at most {MOST_TEXT_CHARS:,} characters")
        return self


class ChangeConfig(Tool[ConfigParams]):
    name: ClassVar[str] = "config"
    description: ClassVar[str] = (
        "See the settings of Handrail, or ask to change one of the few that are for agents: "
        f"{', '.join(name for name, one in SETTINGS.items() if one.agent_may_set)}. A change "
        f"applies to all later conversations. Only people change the other settings."
    )
    params = ConfigParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    floor: ClassVar[RiskLevel | None] = RiskLevel.LOW
    site: ClassVar[Site] = Site.SERVER
    effect: ClassVar[Effect] = Effect.CHANGE

    def pre_validate(self, params: ConfigParams, scene: Scene) -> list[Finding]:
        key = params.key
        if key is None:
            return []
        if params.action == "get":
            return [] if key in SETTINGS else [forbidden("config.unknown", no_such_setting(key))]
        if (why := why_not_by_agent(key)) is not None:
            rule = "config.unknown" if why == no_such_setting(key) else "config.for-people"
            return [forbidden(rule, why)]
        return [_judge_value(params, key)]

    def preview(self, params: ConfigParams) -> str:
        value = cut(visible(str(params.value)), _PREVIEWED_CHARS)
        match params.action:
            case "list":
                return "List the settings"
            case "get":
                return f"Read the setting {visible(params.key or '')}"
            case "set":
                return f"Set {visible(params.key or '')} for all conversations to: {value}"
            case "append":
                return f"Add to {visible(params.key or '')}, for all conversations: {value}"

    async def execute(
        self,
        params: ConfigParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        if refused := [
            f for f in self.pre_validate(params, scene) if f.risk is RiskLevel.FORBIDDEN
        ]:
            return ToolResult.failed(refused[0].reason, ErrorType.VALIDATION)
        try:
            return await _do(params, hands)
        except (Forbidden, SetupError) as error:
            raise ToolError(error.message) from error


def _judge_value(params: ConfigParams, key: str) -> Finding:
    setting = SETTINGS[key]
    if params.action == "append" and setting.kind is not Kind.TEXT:
        return forbidden(
            "config.value", f"{key} is not a text, so nothing can be added to it; set it instead"
        )
    if not setting.fits(setting.read(str(params.value))):
        return forbidden("config.value", f"{key} must be {setting.bounds}")
    reason = f"it changes {key}, which applies to all later conversations"
    # An instruction that is not the person's would be followed from then on, unasked.
    return Finding("config.change", reason, RiskLevel.HIGH)


async def _do(params: ConfigParams, hands: Hands) -> ToolResult:
    match params.action:
        case "list":
            return tell_settings(await hands.config.show())
        case "get":
            shown = await hands.config.show()
            (entry,) = (one for one in shown.entries if one.setting.name == params.key)
            return ToolResult(True, _line(entry), _fields(entry))
        case "set":
            entry = await hands.config.set_for_agent(params.key or "", str(params.value))
        case "append":
            entry = await hands.config.append_for_agent(params.key or "", str(params.value))
    return ToolResult(True, f"Changed: {_line(entry)}", _fields(entry))


def tell_settings(shown: Shown) -> ToolResult:
    """All settings, and what is wrong with their file."""
    lines = [f"{_line(one)}\n  {one.setting.meaning}" for one in shown.entries]
    if shown.trouble is not None:
        lines.append(f"[the previous settings stay in force: {visible(shown.trouble)}]")
    lines += [f"[{tell_unknown(visible(name))}]" for name in shown.unknown]
    fields = {
        "settings": [_fields(one) for one in shown.entries],
        "trouble": shown.trouble,
        "unknown": list(shown.unknown),
    }
    return ToolResult(True, "\n".join(lines), fields)


def _line(entry: Entry) -> str:
    value = "not set" if entry.value is None else visible(str(entry.value), keep="\n\t")
    whose = "; agents may ask to change it" if entry.setting.agent_may_set else ""
    return f"{entry.setting.name} = {value} (from: {entry.source}{whose})"


def _fields(entry: Entry) -> dict[str, object]:
    return {"key": entry.setting.name, "value": entry.value, "source": entry.source.value}
