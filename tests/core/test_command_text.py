"""Calls that run a program read as a command line."""

import pytest

from handrail.core.command_text import command_text, further_params
from handrail.core.tool import JsonObject


@pytest.mark.parametrize(
    ("tool", "params", "text"),
    [
        ("execute_command", {"command": "npm", "args": ["test"]}, "npm test"),
        ("execute_command", {"command": "ls"}, "ls"),
        (
            "git",
            {"action": "commit", "args": ["-m", "Fix tax", "shop.py"]},
            "git commit -m 'Fix tax' shop.py",
        ),
        ("read_file", {"path": "a.txt"}, ""),
        ("git", {"action": 7}, ""),
        ("git", {"action": "add", "args": "not a list"}, ""),
    ],
)
def test_a_call_reads_as_the_command_line_it_runs(tool: str, params: JsonObject, text: str) -> None:
    assert command_text(tool, params) == text


def test_parameters_beside_the_command_line_are_kept() -> None:
    params: JsonObject = {"command": "npm", "args": ["test"], "working_dir": "web"}
    assert further_params(params) == {"working_dir": "web"}
