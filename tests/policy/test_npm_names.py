"""npm has many names for each of its commands; each is judged as the command it stands for."""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.executors.command import SEARCH_PATH
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/workspace")
FOLDERS = ":".join([*SEARCH_PATH, str(Path(sys.executable).parent)])
NAMES = Path("lib/utils/cmd-list.js")
# Every beginning of every name, and the command that npm takes it for, if there is one.
TELL = """
const { commands, aliases, deref } = require(process.argv[1])
const names = [...commands, ...Object.keys(aliases)]
const starts = names.flatMap((name) => [...name].map((_, at) => name.slice(0, at + 1)))
console.log(JSON.stringify(Object.fromEntries(starts.map((one) => [one, deref(one)]))))
"""


@cache
def told_by_npm() -> dict[str, str]:
    npm, node = (shutil.which(name, path=FOLDERS) for name in ("npm", "node"))
    names = None if npm is None else Path(npm).resolve().parents[1] / NAMES
    if node is None or names is None or not names.exists():
        pytest.skip("npm is not installed here, or keeps its names elsewhere")
    words = [node, "-e", TELL, str(names)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
    return json.loads(ended.stdout)


def judged(name: str) -> tuple[RiskLevel, set[str]]:
    scripts = COMMANDS.stage_of("npm", [name]).scripts
    return worst(COMMANDS.validate_command("npm", [name])), {script.path for script in scripts}


def test_no_name_or_beginning_of_one_is_judged_more_mildly_than_what_it_stands_for() -> None:
    for name, command in told_by_npm().items():
        (risk, files), (due, due_files) = judged(name), judged(command)
        # What it could be short for in another version counts too.
        assert risk >= due, (name, command)
        assert files >= due_files, (name, command)


def test_every_command_of_npm_is_listed() -> None:
    (rule,) = default_rules().command_list.rules_for("npm")
    assert not [name for name in set(told_by_npm().values()) if not rule.subs_named(name)]


@pytest.mark.parametrize(
    "line", ["rum build", "urn build", "run-s build", "runScript", "tst", "tes", "sto", "it", "rb"]
)
def test_what_runs_scripts_is_bound_to_what_names_them(line: str) -> None:
    scripts = COMMANDS.stage_of("npm", line.split()).scripts
    assert "package.json" in {script.path for script in scripts}


@pytest.mark.parametrize("name", ["ex", "exe", "cre", "explo", "edi"])
def test_what_is_refused_is_so_cut_short(name: str) -> None:
    assert worst(COMMANDS.validate_command("npm", [name, "x"])) is RiskLevel.FORBIDDEN


def test_what_npm_does_not_know_is_asked_about() -> None:
    assert worst(COMMANDS.validate_command("npm", ["whatever"])) is RiskLevel.HIGH
