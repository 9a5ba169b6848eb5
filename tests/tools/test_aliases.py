"""Old names lead to the tools of today, and nobody is told of them."""

from typing import Any

import pytest

from handrail.core.errors import SetupError
from handrail.core.risk import RiskLevel
from handrail.core.tool import ToolDefinition
from handrail.core.verdict import Ruling
from handrail.tools.aliases import ALIASES, Alias
from handrail.tools.catalogue import builtin_registry, judge
from handrail.tools.registry import ToolRegistry

# Under a tool's own name there are other names of its parameters.
OTHER_NAMES = {name for name, alias in ALIASES.items() if alias.tool != name}
WHOSE = {"user_id": "7f9c24e8-3b12-4fef-91e0-d5a4b5a1d1a0"}


@pytest.mark.parametrize(
    ("name", "params", "own_name", "own_params"),
    [
        ("tool_read_file", {"path": "a"} | WHOSE, "read_file", {"path": "a"}),
        (
            "tool_write_file",
            {"path": "a", "content": "x", "mode": "append"} | WHOSE,
            "write_file",
            {"path": "a", "content": "x", "mode": "append"},
        ),
        (
            "tool_list_directory",
            {"path": ".", "recursive": True, "pattern": "*.py"} | WHOSE,
            "list_directory",
            {"path": ".", "recursive": True, "pattern": "*.py"},
        ),
        (
            "tool_execute_command",
            {"command": "npm", "args": ["test"], "timeout": 9} | WHOSE,
            "execute_command",
            {"command": "npm", "args": ["test"], "timeout": 9},
        ),
        ("file_read", {"path": "a"}, "read_file", {"path": "a"}),
        ("file_write", {"path": "a", "content": "x"}, "write_file", {"path": "a", "content": "x"}),
        (
            "git",
            {"action": "commit", "extra": "-m 'two words' -a"},
            "git",
            {"action": "commit", "args": ["-m", "two words", "-a"]},
        ),
        ("git", {"action": "log", "args": ["-1"]}, "git", {"action": "log", "args": ["-1"]}),
        ("git", {"action": "log", "extra": "it's"}, "git", {"action": "log", "args": "it's"}),
        ("git", {"action": "log", "extra": 7}, "git", {"action": "log", "args": 7}),
        (
            "remember",
            {"key": "tea", "value": "green", "category": "taste"},
            "memory_store",
            {"key": "tea", "content": "green", "category": "taste"},
        ),
        ("recall", {"key": "tea"}, "memory_recall", {"query": "tea"}),
        ("read_file", {"path": "a"}, "read_file", {"path": "a"}),
        ("fly", {"where": "up"}, "fly", {"where": "up"}),
    ],
)
def test_a_name_from_elsewhere_is_understood_as_the_tool_it_means(
    name: str, params: dict[str, Any], own_name: str, own_params: dict[str, Any]
) -> None:
    assert builtin_registry().resolve(name, params) == (own_name, own_params)


def test_whose_call_it_is_may_be_repeated_only_where_it_always_had_to_be() -> None:
    assert builtin_registry().resolve("read_file", WHOSE) == ("read_file", WHOSE)
    assert builtin_registry().resolve("file_read", WHOSE) == ("read_file", WHOSE)


def test_a_parameter_can_have_another_name_too() -> None:
    alias = Alias("http_request", renamed={"payload": "body"})
    assert alias.translate({"url": "u", "payload": "p"}) == {"url": "u", "body": "p"}


def test_a_parameter_under_both_names_stays_so_that_it_is_refused() -> None:
    alias = Alias("http_request", renamed={"payload": "body"})
    both = {"body": "b", "payload": "p"}
    assert alias.translate(both) == both


def test_the_parameters_that_were_sent_are_left_as_they_are() -> None:
    sent = {"path": "a"} | WHOSE
    builtin_registry().resolve("tool_read_file", sent)
    assert sent == {"path": "a"} | WHOSE


def test_no_old_name_is_among_the_tools() -> None:
    assert {tool.name for tool in builtin_registry()} & OTHER_NAMES == set()


def test_an_old_name_does_not_lead_to_another_old_name() -> None:
    assert {alias.tool for alias in ALIASES.values()} & OTHER_NAMES == set()


@pytest.mark.parametrize("name", sorted(OTHER_NAMES))
def test_nobody_can_take_an_old_name(name: str) -> None:
    async def take(params: dict[str, Any], hands: object) -> str:
        return "mine"

    definition = ToolDefinition(name, "Takes.", {"type": "object"}, RiskLevel.LOW)
    with pytest.raises(SetupError, match=f"^'{name}' is another name of "):
        ToolRegistry().register_tool(definition, take)


def test_an_old_name_is_judged_like_the_new_one() -> None:
    old = judge("tool_read_file", {"path": "../x"} | WHOSE, workspace="/w")
    assert old == judge("read_file", {"path": "../x"}, workspace="/w")
    assert old.ruling is Ruling.DENY
