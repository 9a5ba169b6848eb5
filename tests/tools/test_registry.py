from typing import Any, ClassVar

import pytest

from handrail.core.errors import BadInput, SetupError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import ToolDefinition
from handrail.tools.base import ToolParams
from handrail.tools.builtin.read_file import ReadFile, ReadFileParams
from handrail.tools.catalogue import builtin_registry
from handrail.tools.registry import ToolRegistry


def test_good_parameters_are_read() -> None:
    tool, params = builtin_registry().parse("read_file", {"path": "a.txt", "limit": 3})
    assert isinstance(tool, ReadFile)
    assert params == ReadFileParams(path="a.txt", limit=3)


class Other(ReadFile):
    name: ClassVar[str] = "other"


def test_unknown_tool_is_named_with_those_there_are() -> None:
    registry = ToolRegistry([ReadFile(), Other()])
    with pytest.raises(BadInput, match=r"^no tool is named 'fly'; there are: read_file, other$"):
        registry.parse("fly", {})


@pytest.mark.parametrize("name", ["", "READ_FILE", "read_file ", "read-file", "__class__"])
def test_name_must_fit_exactly(name: str) -> None:
    with pytest.raises(BadInput, match=r"^no tool is named "):
        builtin_registry().get(name)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"path": "a", "colour": "red"}, "colour"),
        ({}, "path"),
        ({"path": None}, "path"),
        ({"path": 3}, "path"),
        ({"path": ["a"]}, "path"),
        ({"path": b"a"}, "path"),
        ({"path": "a", "offset": "1"}, "offset"),
        ({"path": "a", "offset": 1.0}, "offset"),
        ({"path": "a", "offset": True}, "offset"),
        ({"path": "a", "offset": -1}, "offset"),
        ({"path": "a", "limit": 0}, "limit"),
        ({"path": "a", "encoding": None}, "encoding"),
        ({"path": "a", "encoding": "x" * 41}, "encoding"),
        ({"path": "a", "encoding": "utf-8\0"}, "encoding"),
    ],
    ids=[
        "extra",
        "missing",
        "null",
        "number-for-text",
        "list-for-text",
        "bytes-for-text",
        "text-for-number",
        "fraction-for-number",
        "truth-for-number",
        "below-the-range",
        "zero-lines",
        "null-encoding",
        "long-encoding",
        "nul-in-encoding",
    ],
)
def test_message_names_the_field_that_is_wrong(params: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as caught:
        builtin_registry().parse("read_file", params)
    assert caught.value.message.startswith(f"{field}: ")
    assert ";" not in caught.value.message


def test_message_is_plain_words() -> None:
    with pytest.raises(BadInput, match=r"^path: field required$"):
        builtin_registry().parse("read_file", {})


def test_parameters_that_are_no_object_are_refused() -> None:
    nonsense: Any = ["path"]
    with pytest.raises(BadInput, match=r"^parameters: \S"):
        builtin_registry().parse("read_file", nonsense)


def test_message_names_a_field_within_a_field() -> None:
    class Place(ToolParams):
        lines: list[int]

    class PlaceParams(ToolParams):
        place: Place

    class Jump(ReadFile):
        name: ClassVar[str] = "jump"
        params: Any = PlaceParams

    with pytest.raises(BadInput, match=r"^place\.lines\.1: \S"):
        ToolRegistry([Jump()]).parse("jump", {"place": {"lines": [1, "two"]}})


def test_message_names_every_field_that_is_wrong() -> None:
    with pytest.raises(BadInput) as caught:
        builtin_registry().parse("read_file", {"offset": -1, "colour": "red"})
    fields = [part.partition(":")[0] for part in caught.value.message.split("; ")]
    assert sorted(fields) == ["colour", "offset", "path"]


def test_message_does_not_repeat_what_was_sent() -> None:
    with pytest.raises(BadInput) as caught:
        builtin_registry().parse("read_file", {"path": "a", "offset": "hunter2"})
    assert "hunter2" not in caught.value.message


def test_second_tool_of_the_same_name_is_refused() -> None:
    registry = ToolRegistry([ReadFile()])
    with pytest.raises(
        SetupError, match=r"^two tools are named 'read_file'; rename or remove one$"
    ):
        registry.register(ReadFile())
    assert len(registry) == 1


def test_tools_come_in_the_order_they_were_registered() -> None:
    first, second = Other(), ReadFile()
    registry = ToolRegistry([first])
    registry.register(second)
    assert list(registry) == [first, second]
    assert registry.get("read_file") is second


def test_registries_share_nothing() -> None:
    one, two = builtin_registry(), ToolRegistry()
    assert (len(one) > 0, len(two)) == (True, 0)


# What cannot be served


class Hopeless(Other):
    safety_level: ClassVar[RiskLevel] = RiskLevel.FORBIDDEN


def test_a_tool_that_cannot_be_served_is_refused() -> None:
    registry = ToolRegistry()
    with pytest.raises(SetupError) as caught:
        registry.register(Hopeless())
    assert caught.value.message == (
        "'other' is FORBIDDEN, so it could never be used; rate it lower"
    )
    assert len(registry) == 0


@pytest.mark.parametrize(
    "wrong", ["", "Dice", "dice!", "1dice", "_dice", "würfel", "dice\n", "d" * 65, "../dice"]
)
def test_a_name_that_cannot_be_one_is_refused(wrong: str) -> None:
    class Misnamed(ReadFile):
        name: ClassVar[str] = wrong

    with pytest.raises(SetupError, match=r"^a tool cannot be named "):
        ToolRegistry([Misnamed()])


@pytest.mark.parametrize("right", ["d", "dice", "dice_2", "d" * 64])
def test_a_name_can_be_small_letters_digits_and_underscores(right: str) -> None:
    class Named(ReadFile):
        name: ClassVar[str] = right

    assert ToolRegistry([Named()]).find(right) is not None


def test_a_tool_in_code_cannot_take_the_name_of_another() -> None:
    async def replace(params: dict[str, Any], hands: Hands) -> str:
        return "mine"

    registry = builtin_registry()
    definition = ToolDefinition("read_file", "Mine.", {"type": "object"}, RiskLevel.LOW)
    with pytest.raises(SetupError, match=r"^two tools are named 'read_file'"):
        registry.register_tool(definition, replace)
    assert isinstance(registry.get("read_file"), ReadFile)
