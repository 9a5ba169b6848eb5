"""`handrail explain` says what would happen, and why."""

import json
from typing import Any

import pytest

from handrail.cli.explain import read_params
from handrail.core.errors import BadInput
from tests.cli.conftest import Shell, ended_well


def test_what_would_be_allowed_is_said_to_be(shell: Shell) -> None:
    said = ended_well(shell.run("explain", "read_file", "path=README.md"))

    assert said.splitlines() == ["allow  risk LOW", "  nothing speaks against it"]


def test_what_would_be_refused_is_said_with_the_reason_and_the_rule(shell: Shell) -> None:
    said = ended_well(shell.run("explain", "read_file", "path=.env"))

    assert said.splitlines() == [
        "deny  risk FORBIDDEN",
        "  '.env' is refused: environment files hold secrets  (path.dotenv)",
    ]


def test_a_program_can_read_the_answer(shell: Shell) -> None:
    said = ended_well(shell.run("explain", "read_file", "path=../x", "--json"))

    assert json.loads(said) == {
        "ruling": "deny",
        "risk": "FORBIDDEN",
        "reasons": ["'../x' climbs out of the workspace"],
        "rules": ["path.boundary"],
        "timeout_seconds": 0,
    }


def test_what_cannot_be_explained_is_said_in_one_line(shell: Shell) -> None:
    assert shell.refused("explain", "read_file", "README.md") == "'README.md' is not NAME=VALUE"
    assert shell.refused("explain", "launch", "path=x") == (
        "no tool is named 'launch'; there are: read_file"
    )
    assert shell.refused("explain", "read_file", "limit=1") == "path: field required"


def test_explaining_leaves_nothing_behind(shell: Shell) -> None:
    ended_well(shell.run("explain", "read_file", "path=README.md"))

    assert not shell.home.exists()
    assert list(shell.workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], {}),
        (["path=a"], {"path": "a"}),
        (["path=a=b"], {"path": "a=b"}),
        (["path="], {"path": ""}),
        (["limit=3", "offset=null"], {"limit": 3, "offset": None}),
        (['path="3"'], {"path": "3"}),
        (['args=["a", 1]'], {"args": ["a", 1]}),
        (["path=[a"], {"path": "[a"}),
        (["path=a", "path=b"], {"path": "b"}),
    ],
)
def test_values_are_json_where_they_can_be(pairs: list[str], expected: dict[str, Any]) -> None:
    assert read_params(pairs) == expected


@pytest.mark.parametrize("pair", ["path", "", "=a", "="])
def test_a_pair_needs_a_name_and_a_value(pair: str) -> None:
    with pytest.raises(BadInput, match="is not NAME=VALUE"):
        read_params([pair])
