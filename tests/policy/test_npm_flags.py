"""What we take for a flag of npm, with a value or without one, npm takes for the same."""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from handrail.executors.command import SEARCH_PATH
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.rules import default_rules

FOLDERS = ":".join([*SEARCH_PATH, str(Path(sys.executable).parent)])
DEFINITIONS = Path("node_modules/@npmcli/config/lib/definitions/index.js")
# For each flag whether it takes nothing but yes or no; and what the short ones are short for.
TELL = """
const { definitions, shorthands } = require(process.argv[1])
const kinds = Object.entries(definitions).map(([name, { type }]) => {
  const types = [].concat(type)
  return [name, types.includes(Boolean) ? (types.includes(String) ? "either" : "flag") : "value"]
})
console.log(JSON.stringify({ kinds: Object.fromEntries(kinds), shorthands }))
"""


@cache
def told_by_npm() -> tuple[dict[str, str], dict[str, list[str]]]:
    npm, node = (shutil.which(name, path=FOLDERS) for name in ("npm", "node"))
    definitions = None if npm is None else Path(npm).resolve().parents[1] / DEFINITIONS
    if node is None or definitions is None or not definitions.exists():
        pytest.skip("npm is not installed here, or keeps its definitions elsewhere")
    words = [node, "-e", TELL, str(definitions)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
    told = json.loads(ended.stdout)
    return told["kinds"], told["shorthands"]


def kind_of(flag: str) -> str:
    """How npm takes it; a short one that brings its value along takes none itself."""
    kinds, shorthands = told_by_npm()
    name = flag.lstrip("-")
    if name in kinds:
        return kinds[name]
    long, *value = shorthands[name]
    return "flag" if value or long.startswith("--no-") else kinds[long.lstrip("-")]


def rule_of_npm() -> CommandRule:
    (rule,) = default_rules().command_list.rules_for("npm")
    return rule


@pytest.mark.parametrize("flag", sorted(rule_of_npm().flags))
def test_a_flag_without_a_value_takes_none(flag: str) -> None:
    assert kind_of(flag) == "flag"


@pytest.mark.parametrize("flag", sorted(rule_of_npm().values | rule_of_npm().paths))
def test_a_flag_with_a_value_takes_one(flag: str) -> None:
    assert kind_of(flag) == "value"


def test_all_its_flags_of_one_letter_are_known_for_such() -> None:
    _, shorthands = told_by_npm()
    assert {name for name in shorthands if len(name) == 1} <= set(rule_of_npm().letters)


def test_its_flags_that_run_a_program_are_refused() -> None:
    kinds, _ = told_by_npm()
    running = {"browser", "editor", "git", "node-gyp", "node-options", "script-shell", "shell"}
    running |= {"init-module", "viewer"}
    assert running <= set(kinds)
    for name in running:
        (why, *_) = rule_of_npm().raised_by(f"--{name}")
        assert why.reason == "runs another program"
