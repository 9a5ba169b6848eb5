"""`handrail explain` says what would happen, and why."""

import json
from typing import Any

import pytest

from handrail.cli.explain import read_params, say_verdict
from handrail.core.errors import BadInput
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Ruling, Verdict
from tests.cli.conftest import Shell, ended_well, refused
from tests.conftest import TOOL_NAMES


def test_what_would_happen_is_said_with_the_reasons_and_their_rules(shell: Shell) -> None:
    allowed, denied, program = map(
        ended_well,
        shell.run_all(
            "explain read_file path=README.md",
            "explain read_file path=.env",
            "explain read_file path=../x --json",
        ),
    )

    assert allowed.splitlines() == ["allow: runs at once, risk LOW", "  no rule objects to it"]
    assert denied.splitlines() == [
        "deny: refused, risk FORBIDDEN",
        "  '.env' is refused: environment files hold secrets  (path.dotenv)",
    ]
    reason = (
        "'../x' climbs out of the workspace; a person can let agents read a folder there with "
        "`handrail folders add`"
    )
    assert json.loads(program) == {
        "ruling": "deny",
        "risk": "FORBIDDEN",
        "reasons": [reason],
        "rules": ["path.boundary"],
        "timeout_seconds": 0,
        "findings": [
            {
                "rule": "path.boundary",
                "layer": "shipped",
                "risk_level": "FORBIDDEN",
                "reason": reason,
            }
        ],
    }
    # Nothing was run, and nothing is left behind.
    assert not shell.home.exists()
    assert list(shell.workspace.iterdir()) == []


@pytest.mark.parametrize("ruling", Ruling)
def test_every_ruling_is_said_as_its_word_and_its_meaning(
    ruling: Ruling, capsys: pytest.CaptureFixture[str]
) -> None:
    say_verdict(Verdict(ruling, RiskLevel.MEDIUM))

    said = capsys.readouterr().out.splitlines()
    assert said == [f"{ruling}: {ruling.meaning}, risk MEDIUM", "  no rule objects to it"]


@pytest.mark.usefixtures("needs_box")
def test_a_command_is_explained_as_it_would_be_typed(shell: Shell) -> None:
    asked, denied, listed, tool = map(
        ended_well,
        shell.run_all(
            "explain -- npm install express",
            "explain --autonomy full -- rm -rf /",
            "explain --json -- ls -la",
            "explain write_file -- path=a.py content=x",
        ),
    )

    assert asked.splitlines()[0] == "ask: asks a person, risk MEDIUM, 300 s to answer"
    assert "npm install installs or looks up packages" in asked
    assert "it can reach only " in asked
    assert denied.splitlines() == [
        "deny: refused, risk FORBIDDEN",
        "  Command not allowed: rm / would delete a root, a home or the whole workspace"
        "  (command.forbidden)",
        "  rm deletes files  (command.rm)",
    ]
    assert json.loads(listed)["ruling"] == "allow"
    assert tool.splitlines() == [
        "ask: asks a person, risk MEDIUM, 300 s to answer",
        "  changes a file in the workspace  (tool.write_file)",
    ]


def test_what_cannot_be_explained_is_said_in_one_line(shell: Shell) -> None:
    lines = shell.run_all(
        "explain read_file README.md",
        "explain ls -la src",
        "explain launch path=x",
        "explain read_file limit=1",
        "explain git action=log args=-1",
    )

    command = "put a command behind `--`, as in `handrail explain -- git status`"
    assert [refused(line) for line in lines] == [
        f"'README.md' is not NAME=VALUE; {command}",
        f"'-la' is not an option; {command}",
        f"no tool is named 'launch'; there are: {', '.join(TOOL_NAMES)}",
        "path: field required",
        """args: input should be a valid list; a list is written as NAME='["a", "b"]', or as """
        "NAME=a NAME=b",
    ]


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
        (["args=a", "args=b", "x=1", "args=3"], {"args": ["a", "b", 3], "x": 1}),
        (["path=[a"], {"path": "[a"}),
        (["path=a", "path=b"], {"path": ["a", "b"]}),
    ],
)
def test_values_are_json_where_they_can_be(pairs: list[str], expected: dict[str, Any]) -> None:
    assert read_params(pairs) == expected


@pytest.mark.parametrize("pair", ["path", "", "=a", "="])
def test_a_pair_needs_a_name_and_a_value(pair: str) -> None:
    with pytest.raises(BadInput, match="is not NAME=VALUE"):
        read_params([pair])
