from handrail.core.errors import ErrorType
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site, ToolDefinition, ToolResult, ToolSpec


def test_success_on_the_wire_is_its_own_fields_and_the_output() -> None:
    result = ToolResult(True, "hello", {"content": "hello", "size": 5})
    assert result.as_json() == {
        "success": True,
        "content": "hello",
        "size": 5,
        "output": "hello",
    }


def test_failure_on_the_wire_says_why() -> None:
    assert ToolResult.failed("no such file").as_json() == {
        "success": False,
        "output": "no such file",
        "error": "no such file",
    }


def test_failure_counts_as_one_of_execution_unless_told() -> None:
    assert ToolResult.failed("broke").error_type is ErrorType.EXECUTION
    assert ToolResult.failed("bad", ErrorType.VALIDATION).error_type is ErrorType.VALIDATION


def test_as_json_gives_a_fresh_object_each_time() -> None:
    result = ToolResult(True, "hello", {"size": 5})
    result.as_json()["size"] = 6
    assert result.as_json()["size"] == 5


def test_sites_and_effects_keep_their_words() -> None:
    assert [str(site) for site in Site] == ["client", "server"]
    assert [str(effect) for effect in Effect] == ["read", "change"]


def test_model_is_told_name_description_and_schema() -> None:
    definition = ToolDefinition("look", "Looks.", {"type": "object"}, RiskLevel.LOW)
    assert definition.spec == ToolSpec("look", "Looks.", {"type": "object"})


def test_tool_counts_as_changing_on_the_client_unless_told() -> None:
    definition = ToolDefinition("look", "Looks.", {}, RiskLevel.LOW)
    assert (definition.site, definition.effect) == (Site.CLIENT, Effect.CHANGE)
