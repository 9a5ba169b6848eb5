"""What holds for every tool there is: a new one is tested here without a word."""

import re
from typing import Any

import pytest

from handrail.core.errors import BadInput
from handrail.core.risk import RiskLevel
from handrail.core.tool import ToolSpec
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call

SCENE = Scene("/home/ada/project")
TOOLS = list(builtin_registry())
TOOLS_WITH_PATH = [tool for tool in TOOLS if "path" in tool.params.model_fields]
NASTY = ["", ".", "..", "/", "~", "\0", "\n", "\\", "\ud800", "\u202e", "a" * 5_000, "../" * 2_000]

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
every_tool_with_path = pytest.mark.parametrize("tool", TOOLS_WITH_PATH, ids=lambda tool: tool.name)


def sample(tool: AnyTool, **given: Any) -> dict[str, Any]:
    """The least a call must say, made from the schema."""
    by_type = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    schema = tool.definition.input_schema
    made: dict[str, Any] = {}
    for name in schema.get("required", []):
        field = schema["properties"][name]
        text = field.get("enum", [f"{name}.txt"])[0]
        made[name] = text if field["type"] == "string" else by_type[field["type"]]
    return made | given


def parsed(tool: AnyTool, **given: Any) -> ToolParams:
    return tool.params.model_validate(sample(tool, **given))


def test_there_are_tools_and_some_take_a_path() -> None:
    assert "read_file" in [tool.name for tool in TOOLS_WITH_PATH]


@every_tool
def test_name_is_plain(tool: AnyTool) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]{1,40}", tool.name)


@every_tool
def test_model_is_told_what_the_tool_does(tool: AnyTool) -> None:
    assert len(tool.description) > 20
    assert tool.spec() == ToolSpec(tool.name, tool.description, tool.definition.input_schema)


@every_tool
def test_schema_is_closed(tool: AnyTool) -> None:
    schema = tool.definition.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    inner = [part for part in schema.get("$defs", {}).values() if part["type"] == "object"]
    assert [part for part in inner if part.get("additionalProperties") is not False] == []


@every_tool
def test_every_parameter_is_described(tool: AnyTool) -> None:
    properties = tool.definition.input_schema["properties"]
    assert [name for name, field in properties.items() if not field.get("description")] == []


@every_tool
def test_field_nobody_declared_is_refused(tool: AnyTool) -> None:
    with pytest.raises(BadInput, match=r"^undeclared: "):
        builtin_registry().parse(tool.name, sample(tool, undeclared=1))


@every_tool
def test_parameters_cannot_be_changed_after_they_were_judged(tool: AnyTool) -> None:
    params = parsed(tool)
    name = next(iter(type(params).model_fields))
    with pytest.raises(ValueError, match="frozen"):
        setattr(params, name, "other")


@every_tool
def test_preview_is_one_line_for_a_person(tool: AnyTool) -> None:
    preview = tool.preview(parsed(tool))
    assert preview.strip()
    assert "\n" not in preview


@every_tool
def test_judging_twice_gives_the_same_answer(tool: AnyTool) -> None:
    params = parsed(tool)
    assert tool.pre_validate(params, SCENE) == tool.pre_validate(params, SCENE)
    assert judge_call(tool, params, SCENE) == judge_call(tool, params, SCENE)


@every_tool
def test_definition_says_what_the_class_says(tool: AnyTool) -> None:
    definition = tool.definition
    assert (definition.safety_level, definition.site, definition.effect) == (
        tool.safety_level,
        tool.site,
        tool.effect,
    )
    assert definition.safety_level < RiskLevel.FORBIDDEN


@every_tool_with_path
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "/home/ada/project-evil/x", "a/../../x"])
def test_path_outside_is_refused(tool: AnyTool, path: str) -> None:
    findings = tool.pre_validate(parsed(tool, path=path), SCENE)
    assert [(found.rule, found.risk) for found in findings] == [
        ("path.boundary", RiskLevel.FORBIDDEN)
    ]


@every_tool_with_path
@pytest.mark.parametrize("path", [".env", "keys/id_rsa", ".ssh/config", ".handrail/tokens"])
def test_sensitive_file_is_refused(tool: AnyTool, path: str) -> None:
    findings = tool.pre_validate(parsed(tool, path=path), SCENE)
    assert RiskLevel.FORBIDDEN in [found.risk for found in findings]


@every_tool_with_path
@pytest.mark.parametrize("path", NASTY, ids=lambda path: ascii(path[:8]))
def test_no_path_breaks_the_judgement(tool: AnyTool, path: str) -> None:
    params = parsed(tool, path=path)
    assert judge_call(tool, params, SCENE) == judge_call(tool, params, SCENE)
