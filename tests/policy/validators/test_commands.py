import sys
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
from handrail.core.verdict import Plan, Ruling
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.settings import Unlisted
from handrail.policy.security import Scene
from handrail.policy.validators.commands import (
    MAX_ALL_CHARS,
    MAX_ARG_BYTES,
    MAX_ARGS,
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
    is_elsewhere = case["argv"][:3] == ["git", "-C", "sub"]
    assert is_in(["git", *args[2:]] if is_elsewhere else case["argv"], argv)
    assert profile is Profile.READ or case["expected"] != "low"
    # A reader gets no more than its box where a person lets it read something else.
    only_reads = all(one.rule.startswith(("command.outside", "path.")) for one in verdict.findings)
    assert (profile is Profile.READ) is (only_reads or verdict.risk is RiskLevel.LOW)


def is_in(words: list[str], line: Iterable[str]) -> bool:
    """Whether the words stand in the line, in their order; others may stand between them."""
    rest = iter(line)
    return all(word in rest for word in words)


@every_case
def test_no_command_is_judged_milder_inside_another(case: dict[str, Any]) -> None:
    # A flag or an assignment belongs to nice itself, and a folder of git is only read behind git.
    if case["argv"][0].startswith(("-", "X=")) or case["argv"][:2] == ["git", "-C"]:
        return
    assert worst(judge("nice", *case["argv"])) >= worst(judge(*case["argv"]))


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (
            ["rm", "-rf", "/"],
            [
                "Command not allowed: rm / would delete a root, a home or the whole workspace",
                "rm deletes files",
            ],
        ),
        (
            ["rm", "-rf", ROOT],
            ["rm deletes files", "Command not allowed: rm would delete the whole workspace"],
        ),
        (["foo"], ["foo is not a command Handrail knows"]),
        (["curl"], ["Command not allowed: curl reaches the network; use http_request"]),
        (["sort", "-o", "b", "a"], ["sort -o writes a file"]),
        (
            ["npm", "install", "x"],
            ["npm install installs or looks up packages; their scripts stay off"],
        ),
        (["git", "gc", "--x"], ["git gc can discard work or change many files"]),
        (["git", "foo"], ["git may change the repository"]),
        (["git", "branch", "new"], ["git branch new changes or creates one"]),
        (["git", "tag", "-d", "v1"], ["git tag -d", "git tag v1 changes or creates one"]),
        (
            ["git", "config", "user.email", "a@b"],
            ["Command not allowed: git config changes git's settings, which can run programs;"],
        ),
        (["time", "ls"], ["time starts another program"]),
        (["tee", "a"], ["tee changes files"]),
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
            ["runs /bin/ls by its path", "'/bin/ls' lies outside the workspace; commands see"],
        ),
        (["cat", "/etc/passwd"], ["'/etc/passwd' lies outside the workspace; commands see"]),
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
        (["ls", "\x1b"], ["'\\x1b' contains control or invisible characters"]),
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


def test_surrogate_that_stands_for_no_byte_is_refused_and_one_that_does_is_not() -> None:
    assert worst(judge("echo", "\ud800")) is RiskLevel.FORBIDDEN
    assert judge("cat", "caf\udce9") == []


@pytest.mark.parametrize(
    ("argv", "files"),
    [
        (["cat", "a", "b/c"], [("a", False), ("b/c", False)]),
        (["cat", f"{ROOT}/a", ROOT, "/etc/passwd"], [("a", False), (".", False)]),
        (["cat", "a/../b", "workspace/c"], [("a/../b", False), ("workspace/c", False)]),
        (["cat", "--", "-a"], [("./-a", False)]),
        (["cp", "a", "b"], [("a", True), ("b", True)]),
        (["cp", "-r", "a", "b"], [("a", True), ("b", True)]),
        (["cp", "--target-directory=a", "b"], [("a", True), ("b", True)]),
        (["grep", "pattern", "a"], [("a", False)]),
        (["git", "show", "HEAD:a"], [("HEAD:a", False), ("a", False)]),
        (["./run.sh", "a"], [("a", True)]),
        (["./run.sh", "./run.sh"], [("./run.sh", True)]),
        (["nice", "cat", "a"], [("a", False)]),
        (["echo", "a"], []),
        (["no-such-thing", "a"], [("a", True)]),
        (["git", "-C", "sub", "add", "a"], [("sub/a", True)]),
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


def test_without_rules_every_command_is_asked_about() -> None:
    (finding,) = CommandValidator(ROOT, Rules()).validate_command("ls")
    assert (finding.rule, finding.risk) == ("command.unlisted", RiskLevel.HIGH)


def test_an_operator_may_refuse_every_command_without_a_row() -> None:
    rules = default_rules().replaced_by(Rules(unlisted=Unlisted.REFUSE))
    validator = CommandValidator(ROOT, rules)
    assert worst(validator.validate_command("no-such-thing")) is RiskLevel.FORBIDDEN
    assert validator.validate_command("ls") == []


def test_other_rules_can_be_given() -> None:
    mine = Rules.parse("[[command]]\nname = 'ls'\nexamples = { 'ls' = 'high' }", source="mine.toml")
    validator = CommandValidator(ROOT, default_rules().replaced_by(mine))
    assert worst(validator.validate_command("ls")) is RiskLevel.HIGH
    assert validator.validate_command("pwd") == []


_NAMES = sorted({name for rule in default_rules().commands for name in rule.names})
_FORBIDDEN = sorted(
    name
    for rule in default_rules().commands
    if rule.risk is RiskLevel.FORBIDDEN
    for name in rule.names
    if "*" not in name and " " not in name
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
        return
    VALIDATOR.class_of(command, args)
    VALIDATOR.rehearses(command, args)
    VALIDATOR.files_of(command, args)
    stage = VALIDATOR.stage_of(command, args)
    assert is_in([command, *args], stage.argv) or command == "git"


def _events_of(argv: list[str]) -> int:
    """How many lines of Python a judgement runs, which no other process can change."""
    count = 0

    def trace(*_: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        VALIDATOR.validate_command(argv[0], argv[1:])
    finally:
        sys.settrace(before)
    return count


@settings(deadline=None, max_examples=60)
@given(
    head=st.sampled_from(sorted(_NAMES)),
    words=st.lists(_WORDS.filter(lambda word: word.isprintable()), min_size=1, max_size=4),
)
def test_twice_as_many_words_take_at_most_about_twice_as_many_steps(
    head: str, words: list[str]
) -> None:
    name = head.replace("*", "x").split()
    small, large = ([*name, *words * count] for count in (60, 120))
    assert _events_of(large) <= 2.5 * _events_of(small) + 1_000


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
    protected=st.sampled_from([".env", ".ssh/id_rsa", "sub/.env", f"{ROOT}/.env"]),
)
def test_no_words_in_front_hide_a_file_that_may_not_be_touched(
    name: str, args: list[str], protected: str
) -> None:
    # The last of the words in front may take one for its value.
    assert worst(judge(name, *args, protected, protected)) is RiskLevel.FORBIDDEN


@settings(deadline=None, max_examples=300)
@given(
    name=st.sampled_from(["cat", "ls", "file", "wc", "head", "cp", "mv", "touch", "mkdir"]),
    args=st.lists(_WORDS, max_size=6),
    outside=st.sampled_from(["/etc/shadow", "../x", "a/../../x", "~/x"]),
)
def test_no_words_in_front_hide_a_path_outside(name: str, args: list[str], outside: str) -> None:
    assert worst(judge(name, *args, outside)) >= RiskLevel.HIGH


def test_what_a_flag_may_take_is_refused_to_none_and_asked_about_where_it_is_written() -> None:
    assert worst(judge("cp", ".env", "x")) is RiskLevel.FORBIDDEN
    assert worst(judge("git", "commit", "-F", ".env")) is RiskLevel.HIGH
    assert judge("head", "-n", ".env") == []


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/zero"])
def test_devices_that_hold_nothing_are_not_outside(device: str) -> None:
    assert judge("grep", "x", "a", device) == []
    assert worst(judge("cp", "a", device)) is RiskLevel.HIGH


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "-C", "sub", "status"],
        ["grep", "x", "a", "/dev/null"],
        ["rg", "--passthrough", "x"],
        ["test", "-f", "a"],
        ["[", "-f", "a", "]"],
        ["env", "ls"],
        ["find", ".", "-name", "*.py", "-not", "-path", "./.git/*"],
    ],
    ids=" ".join,
)
def test_plain_reading_is_not_asked_about(argv: list[str]) -> None:
    assert judge(*argv) == []


@pytest.mark.parametrize(
    ("args", "folder"),
    [
        (["-C", "sub", "status"], "sub"),
        (["-C", f"{ROOT}/sub/deep", "log"], "sub/deep"),
        (["-C", ".", "status"], "."),
        (["-C", "../other", "status"], "."),
        (["-C", "/etc", "status"], "."),
        (["-C", ".ssh", "status"], "."),
    ],
    ids=lambda value: " ".join(value),
)
def test_git_works_in_the_folder_that_it_names_if_agents_may_use_it(
    args: list[str], folder: str
) -> None:
    stage = VALIDATOR.stage_of("git", args)
    assert stage.folder == folder
    assert ("-C" in stage.argv) is (args[1] in ("../other", "/etc", ".ssh"))
    assert (judge("git", *args) == []) is ("-C" not in stage.argv)


@pytest.mark.parametrize(
    ("line", "rehearses"),
    [
        ("ls", True),
        ("make test", True),
        ("rm -rf build", True),
        ("no-such-thing", True),
        ("npm install x", False),
        ("npm run dev", False),
        ("timeout 5 npm install x", False),
        ("git status", True),
        ("git commit -m x", True),
        ("git push", False),
        ("sudo ls", False),
    ],
)
def test_what_needs_the_network_or_stays_running_is_not_rehearsed(
    line: str, rehearses: bool
) -> None:
    command, *args = line.split()
    assert VALIDATOR.rehearses(command, args) is rehearses


@pytest.mark.parametrize(
    "word",
    ["HEAD:id_rsa", ":id_rsa", ":0:id_rsa", ":2:./.env", "HEAD^{/a:b:c}:id_rsa", "v1:certs/x.pem"],
)
@pytest.mark.parametrize("words", [["show"], ["cat-file", "-p"]])
def test_a_protected_name_is_seen_behind_any_colon(words: list[str], word: str) -> None:
    findings = CommandValidator("/ws").validate_command("git", [*words, word])

    # Behind a flag it may be a value, so a person decides.
    expected = RiskLevel.HIGH if len(words) > 1 else RiskLevel.FORBIDDEN
    assert worst(findings) is expected


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
def test_every_path_among_the_words_is_named(line: str, path: str) -> None:
    command, *args = line.split()
    named = CommandValidator("/home/ada/project").stage_of(command, args).named

    assert path in named
