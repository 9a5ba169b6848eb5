"""Whose results are looked at, and how they are called."""

from typing import Any

import pytest

from handrail.policy.injection.checked import needs_injection_check, origin_of


@pytest.mark.parametrize(
    "name",
    ["memory_store", "memory_forget", "skill", "self_info", "config", "routine"],
)
def test_what_this_person_has_kept_here_is_not_checked(name: str) -> None:
    assert not needs_injection_check(name)


@pytest.mark.parametrize(
    "name", ["read_file", "http_request", "mcp_wiki_search", "memory_palace", "", "skills"]
)
def test_everything_else_is(name: str) -> None:
    assert needs_injection_check(name)


@pytest.mark.parametrize(
    ("tool_name", "params", "origin"),
    [
        ("http_request", {"method": "GET", "url": "https://e.example/a"}, "https://e.example/a"),
        ("execute_command", {"command": "npm", "args": ["view", "x"]}, "npm view x"),
        ("git", {"action": "log", "args": ["-1"]}, "log -1"),
        ("search_code", {"path": "src", "pattern": "TODO"}, "src"),
    ],
)
def test_an_origin_says_what_the_call_was_about(
    tool_name: str, params: dict[str, Any], origin: str
) -> None:
    assert origin_of(tool_name, params) == f"{tool_name} {origin}"


def test_an_origin_is_one_short_line_without_secrets() -> None:
    url = "https://e.example/\n\u202e?token=abcdefghijkl" + "x" * 100_000

    origin = origin_of("http_request", {"url": url})

    assert "abcdefghijkl" not in origin
    assert origin.isprintable()
    assert len(origin) < 300
    assert origin_of("a_tool", {"n": 1}) == "a_tool"
