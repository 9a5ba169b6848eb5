"""Patterns stand for what they stand for in bash, which is asked here each time."""

import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.files.patterns import MOST_NAMES, expand
from tests.executors.conftest import somebody_else

# The locale of the boxes, in which bash knows letters beyond ASCII.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    for folder in ("src/deep", "sub.py", "blank folder", ".hidden", "[odd]"):
        (made / folder).mkdir(parents=True)
    for name in (
        *(
            "a",
            "b",
            "c",
            "d.py",
            "e.txt",
            "A",
            "Z.py",
            "1",
            "-rf",
            "--help",
            "!",
            "^",
            "]",
            "[",
            "[",
        ),
        *("[a", "a]", "a-c", "a b", "new\nline", "é.py", "Ω", "$HOME", "*", "?", "{a,b}", "~"),
        *(".env", ".a", "..b", "src/a.py", "src/b.px", "src/c.py", "src/.d.py", "src/deep/f.py"),
        *("sub.py/x.py", "blank folder/x", "[odd]/x", "src/-n.py"),
    ):
        (made / name).write_text("")
    (made / os.fsdecode(b"caf\xe9.py")).write_text("")
    (made / "dangling").symlink_to("nowhere")
    (made / "src" / "x").symlink_to("nowhere")
    (made / "inner").symlink_to("src")
    return made


@pytest.fixture
def root_fd(root: Path) -> Iterator[int]:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def bash(folder: Path, *patterns: str) -> list[list[str]]:
    """What bash makes of each."""
    script = "".join(f"printf '%s\\0' {pattern}; printf '\\1\\0'\n" for pattern in patterns)
    run = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
    )
    found: list[list[str]] = [[]]
    for name in os.fsdecode(run.stdout).split("\0")[:-1]:
        if name == "\1":
            found.append([])
        else:
            found[-1].append(name)
    return found[:-1]


def plain(names: list[str]) -> list[str]:
    """Bash shortens some `//` at the end, which is the same file."""
    return sorted(re.sub("//+$", "/", name.removeprefix("./")) for name in names)


@pytest.mark.parametrize(
    "pattern",
    [
        *("*", "*.py", "**", "**/*.py", "?", "??", "???*", "*a*", "*.*", "*py", "*b*older/*"),
        *("src/*.py", "s*/*.p?", "s*/x", "*/x", "*/*", "*/*/*", "*/deep/*", "src/*/", "inner/*"),
        *("[ab]*", "[!a]*", "[^a]*", "[a-c]", "[c-a]", "[!c-a]", "[c-aA]", "[a-]*", "[-a]*"),
        *("[]]", "[]a]", "[!]a]*", "[^]a]*", "[a]]", "[][]", "[[a]", "[a[^b]", "[a-c-z]", "[--a]"),
        *("[^^]", "[!!]", "[]-a]", "[a", "[a*", "[]", "[!]", "[", "]", "a]*", "?[", "[a-c]-[a-c]"),
        *("[0-9]", "[A-Z]*", "[a-zA-Z]", "[é]*", "é*", "caf?.py", "caf*", "[*]", "[?]", "[!.]*"),
        *(".*", ".?*", "..*", ".[a-z]*", "[.]*", "./*", "./s*/*", ".//*", "./.*", "*/.*"),
        *("src/", "*/", "s*/", "inner/*/", "*//", "src//*.py", "d*", "d*/", "dangling*/"),
        *("no*match", "no/such/*", "*/no/*", "a/*", "a/../*", "*/..", "*/../a", "src/../*.py"),
        *("-*", "--*", "src/-*", "*\n*", "*.PY", "*.py/*", "*.py/"),
        *("[od]*", "[[]odd[]]/*", "[[]odd]/*", "[odd]/*"),
    ],
    ids=ascii,
)
def test_a_pattern_stands_for_what_bash_finds(root: Path, root_fd: int, pattern: str) -> None:
    (truth,) = bash(root, pattern.replace("\n", "$'\\n'"))

    assert plain(expand(root_fd, ".", pattern)) == plain(truth)


@pytest.mark.parametrize("pattern", ["*", "../*", "../s*/*.py", "./*", "../*/x", "deep/../*"])
def test_a_pattern_is_looked_up_from_its_folder(root: Path, root_fd: int, pattern: str) -> None:
    (truth,) = bash(root / "src", pattern)

    assert plain(expand(root_fd, "src", pattern)) == plain(truth)


def test_any_pattern_of_few_characters_stands_for_what_bash_finds(root: Path, root_fd: int) -> None:
    chance = random.Random(20)
    patterns = {
        "".join(chance.choices("**??[[]]!^-ab.py/c", k=chance.randint(1, 7))) for _ in range(2000)
    }
    relative = sorted(one for one in patterns if not one.startswith("/"))

    differing = {
        pattern: (found, truth)
        for pattern, truth in zip(relative, bash(root, *relative), strict=True)
        if (found := plain(expand(root_fd, ".", pattern))) != plain(truth)
    }
    assert differing == {}


def test_names_come_in_the_order_of_bash(root: Path, root_fd: int) -> None:
    (truth,) = bash(root, "./*")
    assert expand(root_fd, ".", "*") == truth


@pytest.mark.parametrize("pattern", ["*", "-*", "s*/*", "./*", ".*", "[-]*"])
def test_no_name_can_be_taken_for_a_flag(root_fd: int, pattern: str) -> None:
    assert all(name.startswith("./") for name in expand(root_fd, ".", pattern))


@pytest.mark.parametrize(
    "pattern", ["[[:alpha:]]", "[[=a=]]", "[[.a.]]", "[[:alpha:]]*", "\\*", "a\\"]
)
def test_what_only_a_shell_understands_stays_as_it_stands(root_fd: int, pattern: str) -> None:
    assert expand(root_fd, ".", pattern) == [pattern]


@pytest.mark.parametrize("pattern", ["/*", "/etc/host*", "/e*/hostname"])
def test_nothing_is_looked_up_from_the_root_of_the_machine(root_fd: int, pattern: str) -> None:
    assert expand(root_fd, ".", pattern) == [pattern]


@pytest.mark.parametrize(
    "pattern", ["out/*", "o*/*", "far/host*", "../*", "*/../../*", "src/../../*", "up/ws/*", "o*/"]
)
def test_no_pattern_looks_outside_the_workspace(root: Path, root_fd: int, pattern: str) -> None:
    (root.parent / "secret").mkdir()
    (root.parent / "secret" / "key").write_text("")
    (root / "out").symlink_to("../secret")
    (root / "far").symlink_to("/etc")
    (root / "up").symlink_to("..")

    assert expand(root_fd, ".", pattern) == [pattern]


def test_a_link_that_leads_out_is_named_and_not_followed(root: Path, root_fd: int) -> None:
    (root / "out").symlink_to("../secret")
    assert expand(root_fd, ".", "ou*") == ["./out"]
    assert expand(root_fd, ".", "*/../ou*") != ["*/../ou*"]


def test_a_folder_that_cannot_be_read_holds_nothing(root: Path, root_fd: int) -> None:
    (root / "src").chmod(0o311)
    with somebody_else():
        assert expand(root_fd, ".", "s*/*") == ["./sub.py/x.py"]
        assert expand(root_fd, ".", "sr*/a.py") == ["./src/a.py"]


def test_a_folder_that_is_gone_holds_nothing(root_fd: int) -> None:
    assert expand(root_fd, "no/such/folder", "*") == ["*"]


def test_more_names_than_a_program_should_get_are_refused(root: Path, root_fd: int) -> None:
    for number in range(MOST_NAMES + 1):
        (root / "src" / "deep" / f"{number}.many").write_text("")
    with pytest.raises(CommandExecutionError, match=r"more than 1,000 files; name fewer"):
        expand(root_fd, ".", "src/deep/*.many")
    (root / "src" / "deep" / "0.many").unlink()
    assert len(expand(root_fd, ".", "src/deep/*.many")) == MOST_NAMES


@pytest.mark.timeout(15)
@pytest.mark.parametrize("stars", [1, 4, 9, 40])
def test_a_long_name_and_many_stars_freeze_nothing(root: Path, root_fd: int, stars: int) -> None:
    (root / ("a" * 200)).write_text("")

    assert expand(root_fd, ".", "*a" * stars + "*b!") == ["*a" * stars + "*b!"]
    assert f"./{'a' * 200}" in expand(root_fd, ".", "*a" * stars + "*")


def test_a_pattern_that_goes_up_and_down_again_is_not_followed_for_long(
    root: Path, root_fd: int
) -> None:
    for number in range(400):
        (root / f"sub-{number}").mkdir()

    with pytest.raises(CommandExecutionError, match="would check more than 100,000 names"):
        expand(root_fd, ".", "sub-*/../nothing*")
