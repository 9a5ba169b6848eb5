"""What we take for a flag's value the real program takes for it too, so that nothing hides there.

Each flag is put in front of one that would do harm. If the program did not swallow that, it would
leave a mark.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from handrail.executors.command import SEARCH_PATH
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.rules import default_rules

FOLDERS = ":".join([*SEARCH_PATH, str(Path(sys.executable).parent)])
MARK = "mark"
ENVIRONMENT = {"PATH": FOLDERS, "LC_ALL": "C", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}

Harm = Callable[[str], list[str]]


def rule_of(name: str, *subs: str) -> CommandRule:
    (rule,) = default_rules().command_list.rules_for(name)
    for sub in subs:
        (rule,) = rule.subs_named(sub)
    return rule


def flags_of(rule: CommandRule) -> Iterable[str]:
    """Those with a value that are low: what raises has been noticed anyway."""
    return sorted(flag for flag in rule.values | rule.paths if not rule.raised_by(flag))


def cases() -> Iterable[tuple[list[str], str]]:
    for words in (["sort"], ["uniq"], ["find"], ["sed"], ["rg"], ["file"]):
        yield from ((words, flag) for flag in flags_of(rule_of(*words)))
    for sub in ("log", "show", "diff", "diff-tree", "rev-list", "reflog", "shortlog", "blame"):
        yield from ((["git", sub], flag) for flag in flags_of(rule_of("git", sub)))


HARMS: dict[str, Harm] = {
    "sort": lambda flag: ["sort", flag, f"-o{MARK}", "a"],
    "uniq": lambda flag: ["uniq", flag, "a", MARK],
    "find": lambda flag: ["find", ".", flag, "-fprint", MARK],
    "sed": lambda flag: ["sed", flag, f"-i{MARK}", "s/x/y/", "a"],
    "rg": lambda flag: ["rg", flag, "--pre=./harm", "x", "."],
    "file": lambda flag: ["file", flag, "-C", "-m", "magic"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("swallowed")
    (place / "a").write_text("x\nx\n")
    (place / "magic").write_text("0 string x y\n")
    (place / "harm").write_text(f'#!/bin/sh\ntouch {MARK}\ncat "$1"\n')
    (place / "harm").chmod(0o755)
    name = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-q"], ["add", "a"], [*name, "commit", "-qm", "first"]):
        run(place, ["git", *words])
    return place


def run(place: Path, argv: list[str]) -> None:
    program = shutil.which(argv[0], path=FOLDERS)
    if program is None:
        pytest.skip(f"{argv[0]} is not installed here")
    subprocess.run(
        [program, *argv[1:]],
        cwd=place,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )


def marks_in(place: Path) -> list[str]:
    found = [path for path in place.iterdir() if MARK in path.name or path.suffix == ".mgc"]
    for path in found:
        path.unlink()
    return [path.name for path in found]


def harm_behind(words: list[str], flag: str) -> list[str]:
    if words[0] == "git":
        return [*words, flag, f"--output={MARK}", "a" if words[1] == "blame" else "HEAD"]
    return HARMS[words[0]](flag)


@pytest.mark.parametrize("words", [["git", "log"], *([name] for name in HARMS)], ids=" ".join)
def test_without_a_flag_that_swallows_it_the_harm_is_done(folder: Path, words: list[str]) -> None:
    argv = [word for word in harm_behind(words, "") if word]
    run(folder, argv)
    assert marks_in(folder) != []


@pytest.mark.parametrize(("words", "flag"), list(cases()), ids=str)
def test_a_flag_that_takes_a_value_swallows_the_next_word(
    folder: Path, words: list[str], flag: str
) -> None:
    run(folder, harm_behind(words, flag))
    assert marks_in(folder) == []
