"""A sed script that is low neither writes, reads nor runs anything, by sed's own judgement."""

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.policy.validators.commands import CommandValidator

VALIDATOR = CommandValidator("/home/ada/project")
PARTS = [
    *"s/|,[]^awerpWRy;\n {}\\gd1$!IM:btqnNx#-=",
    "s/",
    "/g",
    "[^",
    "[:",
    ":]",
    "\\/",
    "w f",
    "e",
]
WANTED = 150
REFUSED = "e/r/w commands disabled in sandbox mode"


@pytest.fixture(scope="module")
def sed() -> str:
    program = shutil.which("sed", path="/usr/local/bin:/usr/bin:/bin")
    if program is None or REFUSED not in say(program, "w f"):
        pytest.skip("there is no sed here that has a sandbox of its own")
    return program


def say(program: str, script: str) -> str:
    ended = subprocess.run(
        [program, "--sandbox", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env={"LC_ALL": "C"},
    )
    return ended.stderr


def is_low(script: str) -> bool:
    return VALIDATOR.validate_command("sed", [script, "a"]) == []


def low_scripts() -> Iterator[str]:
    """Random scripts that pass; most that say anything at all do not."""
    chance = random.Random(20)
    found: set[str] = set()
    while len(found) < WANTED:
        script = "".join(chance.choices(PARTS, k=chance.randint(3, 14)))
        if script not in found and is_low(script):
            found.add(script)
            yield script


def test_no_low_script_writes_reads_or_runs(sed: str) -> None:
    wrong = [script for script in low_scripts() if REFUSED in say(sed, script)]
    assert wrong == []


@pytest.mark.parametrize(
    "script",
    [
        "s/[/x/;s|]/y/w f|z|",
        "s/a/b/;w f",
        "/x/w f",
        "/[/]/w f",
        "1{w f\n}",
        "s/a/b/we",
        "y/w/e/;e",
        "$!w f",
        ":a;w f",
        "}w f",
        "#n\nw f",
        "a\\\nw f\nw g",
        "b {/gR w/g",
        "b}w f",
    ],
)
def test_a_script_that_would_is_not_low(sed: str, script: str) -> None:
    assert not is_low(script)


@pytest.mark.parametrize(
    "script",
    [
        "1,80p",
        "$p",
        "/^$/d",
        "s/^[ \t]*//",
        "s,/usr/local,/opt,g",
        's/.*"\\([^"]*\\)".*/\\1/p',
        "/start/,/end/{s/a/b/;p}",
        "1!G;h;$!d",
        ":a;N;$!ba;s/\\n/ /g",
        "/error/I,+5p",
        "0~10p",
        "10q",
        "s#http://#https://#",
    ],
)
def test_what_people_type_to_look_is_low(script: str) -> None:
    assert is_low(script)


def test_what_is_added_to_every_line_makes_the_rest_fail(sed: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    argv = VALIDATOR.stage_of("sed", ["-n", "w out", "a"]).argv
    subprocess.run([sed, *argv[1:]], cwd=tmp_path, capture_output=True, timeout=20, check=False)
    assert not (tmp_path / "out").exists()
