"""A tool from a definition and a function is held to the same promises as one with a file."""

from functools import partial
from typing import Any

import pytest

from handrail.core.errors import BadInput, BrokenTool, SetupError, ToolError
from handrail.core.hands import Hands
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, JsonObject, Site, ToolDefinition, ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.policy.security import Scene
from handrail.testing import FakeHands, try_tool
from handrail.tools.base import AnyTool
from handrail.tools.defined import Executor
from handrail.tools.registry import ToolRegistry

SCENE = Scene("/workspace")
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "lines": {"type": "integer", "minimum": 1, "default": 2},
        "kind": {"enum": ["top", "tail"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "more": {"type": "object", "properties": {}, "additionalProperties": False},
    },
    "required": ["path"],
}


async def first_lines(params: dict[str, Any], hands: Hands) -> dict[str, Any]:
    file = await hands.files.read(params["path"], max_bytes=1000)
    return {"lines": file.data.decode().splitlines()[: params["lines"]]}


def made(executor: Executor = first_lines, schema: JsonObject = SCHEMA, **fields: Any) -> AnyTool:
    given: dict[str, Any] = {"safety_level": RiskLevel.MEDIUM} | fields
    definition = ToolDefinition("first_lines", "The first lines of a file.", schema, **given)
    registry = ToolRegistry()
    registry.register_tool(definition, executor)
    return registry.get(definition.name)


# Being used


async def test_it_works_through_hands_with_its_defaults_filled_in() -> None:
    hands = FakeHands({"a.txt": b"one\ntwo\nthree\n"})

    trial = await try_tool(made(), {"path": "a.txt"}, hands)

    assert trial.result == ToolResult(True, '{"lines": ["one", "two"]}', {"lines": ["one", "two"]})


async def without_hands(params: dict[str, Any]) -> str:
    return "done"


@pytest.mark.parametrize(
    ("executor", "effect", "lasts"),
    [
        (first_lines, Effect.CHANGE, False),
        (without_hands, Effect.CHANGE, True),
        (without_hands, Effect.READ, False),
    ],
)
def test_what_is_changed_without_hands_cannot_be_undone(
    executor: Executor, effect: Effect, lasts: bool
) -> None:
    tool = made(executor, effect=effect)
    assert tool.lasts(tool.read_params({"path": "a.txt"})) is lasts


async def test_a_default_that_was_changed_by_one_call_is_whole_for_the_next() -> None:
    async def add(params: dict[str, Any], hands: Hands) -> str:
        params["tags"].append("seen")
        return str(params["tags"])

    tool = made(add, {"type": "object", "properties": {"tags": {"default": []}}})

    assert [(await try_tool(tool, {})).result.output for _ in range(2)] == ["['seen']"] * 2


async def test_it_can_fail_in_its_own_words() -> None:
    async def refuse(params: dict[str, Any], hands: Hands) -> str:
        raise ToolError("the dice have rolled under the table")

    with pytest.raises(ToolError, match="under the table"):
        await try_tool(made(refuse), {"path": "a"})


async def test_what_it_gives_back_is_held_to_what_can_be_told() -> None:
    async def nothing(params: dict[str, Any], hands: Hands) -> Any:
        return None

    with pytest.raises(BrokenTool, match=r"^first_lines returned a NoneType"):
        await try_tool(made(nothing), {"path": "a"})


# Being judged


def test_it_is_rated_as_its_definition_says_and_changes_something_by_default() -> None:
    tool = made()
    assert (tool.safety_level, tool.effect, tool.site) == (
        RiskLevel.MEDIUM,
        Effect.CHANGE,
        Site.CLIENT,
    )
    assert made(effect=Effect.READ, safety_level=RiskLevel.LOW).effect is Effect.READ


@pytest.mark.parametrize(
    ("risk", "ruling"),
    [
        (RiskLevel.LOW, Ruling.ALLOW),
        (RiskLevel.MEDIUM, Ruling.ALLOW),
        (RiskLevel.HIGH, Ruling.ASK),
        (RiskLevel.CRITICAL, Ruling.ASK),
    ],
)
async def test_risk_and_autonomy_decide_who_is_asked(risk: RiskLevel, ruling: Ruling) -> None:
    hands, scene = FakeHands({"a": b"x"}), Scene("/workspace", Autonomy.FULL)
    trial = await try_tool(made(safety_level=risk), {"path": "a"}, hands, scene)
    assert (trial.verdict.risk, trial.verdict.ruling) == (risk, ruling)


def test_no_class_of_its_calls_can_be_granted() -> None:
    tool = made()
    params = tool.read_params({"path": "a"})
    assert tool.call_class(params, SCENE) is None
    assert tool.plan(params, SCENE) == Plan()
    assert tool.pre_validate(params, SCENE) == []


def test_a_person_reads_one_line_without_secrets() -> None:
    tool = made(schema={"type": "object", "additionalProperties": True})

    preview = tool.preview(tool.read_params({"path": "a\nb", "password": "hunter2"}))
    long = tool.preview(tool.read_params({"path": "x" * 1000}))

    assert preview == 'Use first_lines with path "a\\nb", password "[masked]"'
    assert long.endswith("xxx… [828 more characters]")
    assert tool.preview(tool.read_params({})) == "Use first_lines with nothing"


# Being asked wrongly


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "path: field required"),
        ({"path": "a", "colour": "red"}, "colour: extra inputs are not permitted"),
        ({"path": 3}, 'path: this value is not of type "string"'),
        ({"path": None}, 'path: this value is not of type "string"'),
        ({"path": "a", "lines": 0}, "lines: this value is less than the minimum of 1"),
        ({"path": "a", "lines": True}, 'lines: this value is not of type "integer"'),
        ({"path": "a", "kind": "hunter2"}, 'kind: this value is not one of "top" or "tail"'),
        ({"path": "a", "tags": ["x", 1]}, 'tags.1: this value is not of type "string"'),
        ({"path": "a", "more": {"z": 1}}, "more.z: extra inputs are not permitted"),
        ({"path": b"a"}, "parameters: there is something in them that is not JSON"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_the_message_names_the_field_and_repeats_no_value(params: JsonObject, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        made().read_params(params)
    assert caught.value.message == message


def test_every_field_that_is_wrong_is_named() -> None:
    with pytest.raises(BadInput) as caught:
        made().read_params({"lines": 0, "colour": "red", "shape": "round"})
    fields = [part.partition(":")[0] for part in caught.value.message.split("; ")]
    assert sorted(fields) == ["colour", "lines", "path", "shape"]


def test_a_pattern_that_could_be_searched_forever_is_not() -> None:
    tool = made(schema={"type": "object", "properties": {"a": {"pattern": "^(?=a)(a+)+$"}}})
    with pytest.raises(BadInput, match="does not match"):
        tool.read_params({"a": "a" * 200 + "!"})


# Being registered


def test_the_model_is_told_that_nothing_else_is_taken() -> None:
    assert made().spec().input_schema == SCHEMA | {"additionalProperties": False}
    opened = {"type": "object", "additionalProperties": True}
    assert made(schema=opened).read_params({"any": 1}).model_dump() == {"values": {"any": 1}}


def test_what_was_registered_stays_what_it_was() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    tool = made(schema=schema)
    schema["properties"]["path"] = {"type": "string"}
    with pytest.raises(BadInput, match=r"^path: extra inputs"):
        tool.read_params({"path": "a"})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({}, 'does not describe an object; it needs "type": "object"'),
        ({"type": "string"}, 'does not describe an object; it needs "type": "object"'),
        (
            {"type": "object", "properties": 3},
            "is not a JSON Schema: properties: this value is not",
        ),
        (
            {"type": "object", "required": "path"},
            "is not a JSON Schema: required: this value is not",
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}},
            "is not a JSON Schema: parameters: Resource ",
        ),
        ({"type": "object", "title": object()}, "is not JSON: Object of type object"),
    ],
    ids=["empty", "text", "no-fields", "no-list", "elsewhere", "no-json"],
)
def test_a_schema_that_cannot_be_used_is_refused_in_one_sentence(
    schema: JsonObject, message: str
) -> None:
    with pytest.raises(SetupError) as caught:
        made(schema=schema)
    assert caught.value.message.startswith(f"the input_schema of 'first_lines' {message}")
    assert "\n" not in caught.value.message


def test_what_cannot_be_called_off_is_no_executor() -> None:
    def slow(params: dict[str, Any], hands: Hands) -> str:
        return "done"

    with pytest.raises(SetupError, match=r"^the executor of 'first_lines' must be an `async def`$"):
        made(slow)  # pyright: ignore[reportArgumentType]


async def test_an_executor_that_needs_no_hands_need_not_take_them() -> None:
    class Dice:
        async def throw(self, params: dict[str, Any]) -> str:
            return params["path"]

        async def __call__(self, params: dict[str, Any]) -> str:
            return params["path"]

    for executor in (Dice().throw, Dice()):
        assert (await try_tool(made(executor), {"path": "a"})).result.output == "a"


def test_an_executor_of_other_arguments_is_refused_when_it_is_registered() -> None:
    async def greedy(params: dict[str, Any], hands: Hands, more: str) -> str:
        return more

    async def nothing() -> str:
        return "nothing"

    for executor in (greedy, nothing):
        with pytest.raises(SetupError, match=r"^the executor of 'first_lines' must take the param"):
            made(executor)  # pyright: ignore[reportArgumentType]


async def test_an_executor_may_be_a_method_a_partial_or_an_object() -> None:
    class Dice:
        async def throw(self, params: dict[str, Any], hands: Hands) -> str:
            return "six"

        async def __call__(self, params: dict[str, Any], hands: Hands) -> str:
            return "six"

    async def throw(eyes: str, params: dict[str, Any], hands: Hands) -> str:
        return eyes

    for executor in (Dice().throw, Dice(), partial(throw, "six")):
        assert (await try_tool(made(executor), {"path": "a"})).result.output == "six"
