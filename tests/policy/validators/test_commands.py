import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.box import Profile
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.stage import NamedFile
from handrail.core.verdict import Plan, Ruling
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.security import Scene
from handrail.policy.validators.commands import (
    MAX_ALL_CHARS,
    MAX_ARG_BYTES,
    MAX_ARGS,
    MAX_WRITTEN_CHARS,
    CommandValidator,
)
from handrail.tools.builtin.execute_command import ExecuteCommand, ExecuteCommandParams
from handrail.tools.judgement import judge_call

ROOT = "/home/ada/project"
CORPUS = Path(__file__).parent.parent / "corpus" / "commands.toml"
CASES: list[dict[str, Any]] = tomllib.loads(CORPUS.read_text(encoding="utf-8"))["case"]
VALIDATOR = CommandValidator(ROOT)

every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{' '.join(case['argv'])!a}: {case['why']}"
)


def judge(*argv: str) -> list[Finding]:
    return VALIDATOR.validate_command(argv[0], argv[1:])


def reasons(*argv: str) -> list[str]:
    return [finding.reason for finding in judge(*argv)]


def test_corpus_is_large_and_says_nothing_twice() -> None:
    asked = [tuple(case["argv"]) for case in CASES]
    assert len(asked) >= 300
    assert len(asked) == len(set(asked))


@every_case
def test_command_is_answered_as_the_corpus_says(case: dict[str, Any]) -> None:
    findings = judge(*case["argv"])
    risk = worst(findings)
    assert risk.name.lower() == case["expected"], findings
    assert case.get("rule", "") in {"", *(one.rule for one in findings if one.risk is risk)}
    assert all(finding.reason.isprintable() for finding in findings)


@every_case
def test_verdict_on_the_call_says_the_same(case: dict[str, Any]) -> None:
    command, *args = case["argv"]
    params = ExecuteCommandParams(command=command, args=args)
    verdict = judge_call(ExecuteCommand(), params, Scene(ROOT, Autonomy.FULL))
    ruling = {"forbidden": Ruling.DENY, "high": Ruling.ASK}.get(case["expected"], Ruling.ALLOW)
    assert (verdict.ruling, verdict.risk.name.lower()) == (ruling, case["expected"])
    if ruling is Ruling.DENY:
        assert verdict.plan == Plan()
        return
    (argv,), (profile,) = verdict.plan.argv, verdict.plan.profiles
    assert is_in(case["argv"], argv)
    assert (profile is Profile.READ) is (case["expected"] == "low")


def is_in(words: list[str], line: Iterable[str]) -> bool:
    """Whether the words stand in the line, in their order; others may stand between them."""
    rest = iter(line)
    return all(word in rest for word in words)


@every_case
def test_no_command_is_judged_milder_inside_another(case: dict[str, Any]) -> None:
    if case["argv"][0].startswith("-"):
        return
    assert worst(judge("nice", *case["argv"])) >= worst(judge(*case["argv"]))


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (
            ["rm", "-rf", "/"],
            ["Command not allowed: rm deletes permanently; agents may not run it"],
        ),
        (
            ["foo"],
            [
                "Command not allowed: foo has no rule; to allow it, describe it as [[command]] in"
                ' ~/.handrail/policy.toml, or set unlisted = "ask" there to be asked each time'
                " (see docs/howto/policy.md)"
            ],
        ),
        (["curl"], ["Command not allowed: curl reaches the network; use http_request"]),
        (["sort", "-o", "b", "a"], ["sort -o writes a file"]),
        (["ls", "-y"], ["ls -y is not known to be harmless"]),
        (
            ["npm", "install", "x"],
            [
                "npm install changes the project's packages and downloads them; their scripts "
                "stay off"
            ],
        ),
        (["git", "gc", "--x"], ["git gc can discard work or change many files"]),
        (["git", "foo"], ["Command not allowed: git foo is not known here"]),
        (["git", "branch", "new"], ["git branch new creates a branch"]),
        (["git", "branch", "-D", "old"], ["git branch -D deletes something"]),
        (["git", "branch", "-m", "new"], ["git branch -m changes a branch"]),
        (["git", "tag", "-d", "v1"], ["git tag -d deletes something"]),
        (
            ["git", "restore", "."],
            [
                "git restore unstages files, or restores them in this folder",
                "git restore . may be a file, and its changes would be lost",
            ],
        ),
        (
            ["git", "config", "user.email", "a@b"],
            [
                "git config shows settings, which can hold a password",
                "Command not allowed: git config a@b changes a setting; agents may not do that",
            ],
        ),
        (["unzip", "-l", "a"], ["unzip writes the files of an archive, or shows what is in it"]),
        (
            ["time", "ls"],
            [
                "Command not allowed: time runs another program unseen; ask for that one, and its"
                " result says how long it took"
            ],
        ),
        (
            ["tee", "a"],
            [
                "Command not allowed: tee writes what it reads into files; use write_file, or a"
                " line of run_bash with `>`"
            ],
        ),
        (
            ["cd", "src"],
            [
                "Command not allowed: cd is a shell builtin; set working_dir to the folder, or use"
                " run_bash with `cd FOLDER && …`"
            ],
        ),
        (
            ["unset", "A"],
            ["Command not allowed: unset is a shell builtin; use run_bash"],
        ),
        (
            ["/bin/ls"],
            ["runs /bin/ls by its path", "'/bin/ls' lies outside the workspace"],
        ),
        (["cat", "/etc/passwd"], ["'/etc/passwd' lies outside the workspace"]),
        (["./run.sh"], ["runs ./run.sh from this folder, which agents can change"]),
        ([""], ["the command is empty"]),
        (
            ["rm -rf /"],
            [
                "'rm -rf /' is not a command name; put the program alone in `command` and its "
                "arguments in `args`; no shell reads them"
            ],
        ),
        (
            ["ls", "&&"],
            [
                "'&&' is shell syntax; put the program alone in `command` and its arguments in "
                "`args`; no shell reads them; use run_bash for pipes and redirections"
            ],
        ),
        (["ls", "\x1b"], ["'\\x1b' holds control or invisible characters"]),
    ],
    ids=lambda value: ascii(value[0]),
)
def test_reasons_are_given_in_words(argv: list[str], expected: list[str]) -> None:
    found = reasons(*argv)
    assert len(found) == len(expected)
    assert all(told.startswith(words) for told, words in zip(found, expected, strict=True)), found


def test_nothing_is_said_twice() -> None:
    assert len(reasons("sort", "-o", "a", "-o", "b")) == 1


def test_as_many_and_as_long_arguments_as_allowed_pass_and_one_more_does_not() -> None:
    assert judge("echo", *["x"] * MAX_ARGS) == []
    assert reasons("echo", *["x"] * (MAX_ARGS + 1)) == [
        "1,001 arguments are more than the 1,000 allowed"
    ]
    assert judge("echo", "x" * MAX_ARG_BYTES) == []
    assert reasons("echo", "é" * MAX_ARG_BYTES) == [
        "an argument of 200,000 bytes is more than the 100,000 allowed"
    ]


def test_words_may_not_be_endless_together_either() -> None:
    much = ["x" * (MAX_ALL_CHARS // 20)] * 20
    assert judge("echo", *much) == []
    assert reasons("echo", *much, "y") == [
        "1,000,001 characters are more than the 1,000,000 allowed"
    ]


def test_only_so_many_files_are_written_at_once() -> None:
    names = ["x" * 99 + "/"] * (MAX_WRITTEN_CHARS // 100)
    assert worst(judge("cp", *names)) is RiskLevel.MEDIUM
    assert reasons("cp", *names, "y")[1:] == [
        "10,001 characters of file names are more than the 10,000 allowed"
    ]


def test_text_too_long_to_be_looked_through_is_not_plain() -> None:
    assert judge("sed", "p;" * 2_000, "a") == []
    assert worst(judge("sed", "p;" * 2_000 + "p", "a")) is RiskLevel.MEDIUM


_LINES = [
    line
    for rule in default_rules().commands
    for name in [min(rule.names).replace("*", "x")]
    for line in [[name], *([name, min(sub.names)] for sub in rule.subs)]
]
_NASTY = [
    head + unit * ((MAX_ARG_BYTES - len(head) - 1) // len(unit.encode())) + "!"
    for head in ("", "-", "-o", "a=")
    for unit in ("print", "a", "/", "../", ".", "=", ":", ">", "|", "\n", "\\", "[", "s/a/b/;", "ﬁ")
]


@pytest.mark.parametrize("line", _LINES, ids=" ".join)
def test_no_argument_takes_long_to_judge(line: list[str]) -> None:
    """What grows with the square of a word takes minutes for these; a busy machine, never."""
    for word in _NASTY:
        for cut in (4_000, MAX_ARG_BYTES):
            began = time.thread_time()
            judge(*line, word[:cut])
            assert time.thread_time() - began < 5, word[:20]


def test_surrogate_that_stands_for_no_byte_is_refused_and_one_that_does_is_not() -> None:
    assert worst(judge("echo", "\ud800")) is RiskLevel.FORBIDDEN
    assert judge("cat", "caf\udce9") == []


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["npm", "install", "express"], ("npm", "install")),
        (["npm", "ci"], ("npm", "ci")),
        (["git", "commit", "-m", "x"], ("git", "commit")),
        (["pytest", "-q"], ("pytest",)),
        (["mkdir", "a"], ("mkdir",)),
        (["ls", "-la"], ("ls",)),
        (["grep", "x", "a"], ("grep",)),
        (["grep", "http://x", "a"], ("grep",)),
        (["git", "commit", "-m", "see https://example.com"], ("git", "commit")),
        (["cp", "a.md", "b.md"], ("cp",)),
        (["zip", "a.zip", "b.md"], ("zip",)),
        (["grep", "-r", "x", "."], None),
        (["grep", "-rn", "x", "."], None),
        (["grep", "-nr", "x", "."], None),
        (["grep", "--recursive", "x", "."], None),
        (["grep", "x", "-r", "."], None),
        (["rg", "x"], None),
        (["diff", "a", "b"], None),
        (["zip", "-r", "a.zip", "src"], None),
        (["zip", "-qr", "a.zip", "src"], None),
        (["zip", "--recurse", "a.zip", "src"], None),
        (["unzip", "-p", "a.zip"], None),
        (["cp", "-r", "a", "b"], None),
        (["cp", "--arch", "a", "b"], None),
        (["cp", "a.md", "Makefile"], None),
        (["git", "grep", "x"], None),
        (["git", "-C", "sub", "status"], None),
        (["npm", "--prefix", "web", "ci"], None),
        (["npm", "ci", "--prefix", "web"], None),
        (["npm", "ci", "--pref=web"], None),
        (["npm", "install", "https://example.com/x.tgz"], None),
        (["npm", "install", "git@github.com:ada/engine.git"], None),
        (["npm", "install", "github:ada/engine"], None),
        (["pip", "install", "git+https://example.com/x"], None),
        (["pip", "install", "x @ https://example.com/x.whl"], None),
        (["pip", "install", "--target", "lib", "x"], None),
        (["pip", "install", "-tlib", "x"], None),
        (["pip", "install", "--index-url=https://x.example", "y"], None),
        (["pip", "list", "-i", "x"], None),
        (["pytest", "-c", "other.ini"], None),
        (["cargo", "build", "--manifest-path", "x/Cargo.toml"], None),
        (["go", "-C", "x", "build"], None),
        (["uv", "--directory", "x", "sync"], None),
        (["make", "-C", "x"], None),
        (["npm", "install", "-g", "x"], None),
        (["npm", "run", "build"], None),
        (["npm", "--version"], None),
        (["git"], None),
        (["git", "push"], None),
        (["python", "x.py"], None),
        (["python", "-c", "1"], None),
        (["node", "x.js"], None),
        (["awk", "{print}"], None),
        (["uv", "run", "pytest"], None),
        (["go", "run", "."], None),
        (["env", "ls"], None),
        (["timeout", "5", "ls"], None),
        (["nice", "ls"], None),
        (["xargs", "ls"], None),
        (["find", ".", "-exec", "ls", "{}", ";"], None),
        (["make"], None),
        (["./run.sh"], None),
        (["rm", "x"], None),
        (["cat", "/etc/passwd"], None),
        (["foo bar"], None),
    ],
    ids=lambda value: " ".join(value or ["-"]),
)
def test_kind_is_told_only_where_it_says_enough(
    argv: list[str], kind: tuple[str, ...] | None
) -> None:
    found = VALIDATOR.class_of(argv[0], argv[1:])
    words = None if found is None or found.is_exact else found.words.partition(" …")[0]
    assert words == (None if kind is None else " ".join(kind))


@pytest.mark.parametrize(
    ("argv", "files"),
    [
        (["cat", "a", "b/c"], [("a", False), ("b/c", False)]),
        (["cat", f"{ROOT}/a", ROOT, "/etc/passwd"], [("a", False), (".", False)]),
        (["cat", "a/../b", "workspace/c"], [("a/../b", False), ("workspace/c", False)]),
        (["cat", "--", "-a"], [("./-a", False)]),
        (["cp", "a", "b"], [("a", True), ("b", True)]),
        (["cp", "-ra", "b"], [("a", True), ("b", True)]),
        (["cp", "--target-directory=a", "b"], [("a", True), ("b", True)]),
        (["grep", "pattern", "a"], [("a", False)]),
        (["git", "show", "HEAD:a"], [("HEAD:a", False), ("a", False)]),
        (["./run.sh", "a"], [("a", True)]),
        (["./run.sh", "./run.sh"], [("./run.sh", True)]),
        (["nice", "cat", "a"], [("a", False)]),
        (["echo", "a"], []),
        (["no-such-thing", "a"], []),
        ([""], []),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_files_a_command_may_open_are_told(argv: list[str], files: list[tuple[str, bool]]) -> None:
    assert VALIDATOR.files_of(argv[0], argv[1:]) == files


@pytest.mark.parametrize(
    ("argv", "programs"),
    [
        (["./run.sh", "./a"], ["./run.sh"]),
        ([f"{ROOT}/run.sh"], ["run.sh"]),
        (["timeout", "5", "bin/a", "bin/b"], ["bin/a"]),
        (["cat", "bin/a"], []),
    ],
    ids=lambda value: " ".join(value),
)
def test_programs_named_by_their_paths_are_told_apart_from_files(
    argv: list[str], programs: list[str]
) -> None:
    assert VALIDATOR.programs_of(argv[0], argv[1:]) == programs


def test_without_rules_nothing_runs() -> None:
    validator = CommandValidator(ROOT, Rules())
    assert [found.rule for found in validator.validate_command("ls")] == ["command.unlisted"]


def test_other_rules_can_be_given() -> None:
    mine = Rules.parse("[[command]]\nname = 'ls'\nexamples = { 'ls' = 'high' }", source="mine.toml")
    validator = CommandValidator(ROOT, default_rules() + mine)
    assert worst(validator.validate_command("ls")) is RiskLevel.HIGH
    assert validator.validate_command("pwd") == []


_NAMES = sorted({name for rule in default_rules().commands for name in rule.names})
_FORBIDDEN = sorted(
    name
    for rule in default_rules().commands
    if rule.risk is RiskLevel.FORBIDDEN
    for name in rule.names
    if "*" not in name
)
_WORDS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=12),
    st.sampled_from(
        [
            "-",
            "--",
            "-e",
            "-rf",
            "--x=y",
            "-x/y",
            "--x=/etc",
            "x",
            ".env",
            "..",
            ";",
            "+",
            "{}",
            "5",
        ]
    ),
    st.sampled_from(_NAMES),
)


@settings(deadline=None, max_examples=400)
@given(command=_WORDS, args=st.lists(_WORDS, max_size=8))
def test_no_words_break_the_judgement(command: str, args: list[str]) -> None:
    findings = VALIDATOR.validate_command(command, args)
    assert findings == VALIDATOR.validate_command(command, args)
    assert all(finding.reason.isprintable() for finding in findings)
    if worst(findings) is RiskLevel.FORBIDDEN:
        assert VALIDATOR.class_of(command, args) is None


_WRAPPERS = st.sampled_from(
    [
        ["env"],
        ["env", "-i"],
        ["env", "A=b"],
        ["nice"],
        ["nice", "-n", "5"],
        ["timeout", "5"],
        ["timeout", "-k", "1", "5"],
        ["xargs"],
        ["xargs", "-n", "1"],
        ["find", ".", "-exec"],
        ["uv", "run"],
    ]
)


@settings(deadline=None, max_examples=300)
@given(
    wrappers=st.lists(_WRAPPERS, max_size=3),
    name=st.sampled_from(_FORBIDDEN),
    folder=st.sampled_from(["", "/bin/", "./", "/usr/local/sbin/"]),
    change=st.sampled_from([str, str.upper, str.title]),
    args=st.lists(_WORDS, max_size=4),
)
def test_what_is_forbidden_is_so_in_every_disguise(
    wrappers: list[list[str]], name: str, folder: str, change: Any, args: list[str]
) -> None:
    argv = [word for wrapper in wrappers for word in wrapper]
    argv += [folder + change(name), *args]
    assert worst(judge(*argv)) is RiskLevel.FORBIDDEN


@settings(deadline=None, max_examples=300)
@given(
    name=st.sampled_from(["cat", "ls", "file", "wc", "head", "cp", "mv", "touch", "mkdir"]),
    args=st.lists(_WORDS, max_size=6),
    outside=st.sampled_from(["/etc/shadow", "../x", "a/../../x", "~/x", ".env", ".ssh/id_rsa"]),
)
def test_no_words_in_front_hide_a_file_that_may_not_be_touched(
    name: str, args: list[str], outside: str
) -> None:
    # The last of the words in front may take one for its value.
    assert worst(judge(name, *args, outside, outside)) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    "word",
    ["HEAD:id_rsa", ":id_rsa", ":0:id_rsa", ":2:./.env", "HEAD^{/a:b:c}:id_rsa", "v1:certs/x.pem"],
)
@pytest.mark.parametrize("words", [["show"], ["cat-file", "-p"]])
def test_a_protected_name_is_seen_behind_any_colon(words: list[str], word: str) -> None:
    findings = CommandValidator("/ws").validate_command("git", [*words, word])

    assert worst(findings) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("node --test --test-reporter=./rep.mjs a.test.js", "rep.mjs"),
        ("git apply fix.patch", "fix.patch"),
        ("git commit -F message.txt", "message.txt"),
        ("cp a.txt b.txt", "a.txt"),
        ("make SHELL=./x", "x"),
    ],
)
def test_every_path_among_the_words_of_what_does_more_than_look_is_named(
    line: str, path: str
) -> None:
    command, *args = line.split()
    named = CommandValidator("/home/ada/project").stage_of(command, args).named

    assert NamedFile(path) in named


def test_what_only_looks_names_nothing() -> None:
    assert CommandValidator("/home/ada/project").stage_of("cat", ["a.txt"]).named == ()


def test_a_pattern_is_named_as_such() -> None:
    stage = CommandValidator("/home/ada/project").stage_of("cp", ["a*", "out"], {"a*"})

    assert NamedFile("a*", is_pattern=True) in stage.named
