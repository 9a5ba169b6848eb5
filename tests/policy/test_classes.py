"""What a person may let pass for a session never reaches further than what it says."""

import shlex
import tomllib
from pathlib import Path

import pytest

from handrail.core.grant import CallClass
from handrail.core.sight import fact_of
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.scripts import ScriptValidator

CORPUS = tomllib.loads(
    (Path(__file__).parents[1] / "corpus" / "classes.toml").read_text(encoding="utf-8")
)
ROOT = "/home/ada/project"
COMMANDS, LINES = CommandValidator(ROOT), ScriptValidator(ROOT)

# A class of one of these names alone would allow anything.
TOO_BROAD = {
    *("python", "python3", "node", "perl", "ruby", "php", "lua", "deno", "bun", "tsx", "java"),
    *("sh", "bash", "zsh", "dash", "busybox", "env", "xargs", "timeout", "nice", "nohup", "time"),
    *("sudo", "find", "git", "npx", "docker", "ssh", "curl"),
}


def class_of(line: str) -> CallClass | None:
    command, *args = shlex.split(line)
    return COMMANDS.class_of(command, args)


def words_of(kind: CallClass | None) -> str:
    return "" if kind is None else kind.words


@pytest.mark.parametrize(("line", "words"), CORPUS["commands"].items())
def test_the_class_of_a_command_is_what_the_corpus_says(line: str, words: str) -> None:
    assert words_of(class_of(line)) == words
    # A line of one command is of the same class, whatever asks for it.
    assert LINES.class_of(line) == (class_of(line) if words and not is_low(line) else None)


def is_low(line: str) -> bool:
    command, *args = shlex.split(line)
    return not COMMANDS.validate_command(command, args)


@pytest.mark.parametrize(("line", "words"), CORPUS["lines"].items())
def test_the_class_of_a_line_is_what_the_corpus_says(line: str, words: str) -> None:
    assert words_of(LINES.class_of(line)) == words


def test_the_corpus_is_no_trifle() -> None:
    rows = [*CORPUS["commands"].items(), *CORPUS["lines"].items()]
    assert len(rows) >= 120
    assert sum(not words for _, words in rows) >= 50


def test_nothing_that_could_do_anything_is_offered_by_its_name() -> None:
    offered = {words.partition(" …")[0] for words in CORPUS["commands"].values() if " …" in words}
    assert not offered & TOO_BROAD


def test_what_reaches_a_remote_of_git_is_asked_about_each_time() -> None:
    for line in ("push", "push origin main", "pull", "fetch origin", "ls-remote x", "clone x"):
        assert class_of(f"git {line}") is None


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("python x.py", [fact_of("x.py")]),
        ("npm test", [fact_of("package.json")]),
        ("./run.sh", [fact_of("run.sh")]),
        (f"{ROOT}/run.sh a", [fact_of("run.sh")]),
        ("node --env-file=conf x.js", [fact_of("x.js")]),
        (
            ".venv/bin/pytest -q",
            [
                fact_of(".venv/bin/pytest"),
                fact_of("conftest.py"),
                fact_of("pyproject.toml"),
            ],
        ),
        ("git commit -m x", []),
    ],
)
def test_a_class_is_bound_to_the_files_that_its_calls_run(line: str, files: list[str]) -> None:
    kind = class_of(line)
    assert kind is not None
    assert kind.bound == tuple(files)


def test_the_box_is_part_of_a_class() -> None:
    keys = {words: kind.key for words in ("npm install x", "npm test") if (kind := class_of(words))}
    assert keys == {
        "npm install x": "command:net:npm install",
        "npm test": "command:write:npm test",
    }


def test_other_words_or_another_folder_are_another_class_where_words_must_be_the_same() -> None:
    kinds = [
        LINES.class_of(line)
        for line in (
            "./run.sh",
            "./run.sh a",
            "./run.sh 'a b'",
            "./run.sh a b",
            "cd src && ./run.sh",
        )
    ]
    assert None not in kinds
    assert len({kind.key for kind in kinds if kind is not None}) == len(kinds)


def test_what_nobody_would_read_through_is_not_offered() -> None:
    assert COMMANDS.class_of("./run.sh", ["x" * 100] * 3) is not None
    assert COMMANDS.class_of("./run.sh", ["x" * 100] * 4) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("npm run build", "npm run build", id="third-word"),
        pytest.param("pnpm run lint -- --fix", "pnpm run lint", id="third-word-and-more"),
        pytest.param("git stash push -m x", "git stash push", id="third-word-of-git"),
        pytest.param("git commit -m x", "git commit", id="subcommand"),
        pytest.param("python3 -m pytest -q", "python3 -m pytest", id="module"),
        pytest.param(".venv/bin/pytest -q", ".venv/bin/pytest", id="tool-by-its-path"),
        pytest.param("make test", "make", id="no-subcommands-in-the-table"),
        pytest.param("git -C sub commit -m x", "git commit", id="another-folder"),
    ],
)
def test_a_class_is_the_command_with_its_subcommand(line: str, words: str) -> None:
    assert words_of(class_of(line)).partition(" …")[0] == words


@pytest.mark.parametrize(
    "line",
    [
        *("npm --prefix web run build", "cargo --config x build", "go -C x build"),
        *("pip install ./pkg", "npm install ../pkg", "npm install a/b", "pip install .[dev]"),
    ],
)
def test_a_class_does_not_follow_words_that_may_mean_another_project(line: str) -> None:
    kind = class_of(line)
    assert kind is None or kind.is_exact
