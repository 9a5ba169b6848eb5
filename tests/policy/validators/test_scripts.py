from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.stage import Join, Stage, Stream
from handrail.policy.shell.doubts import MAX_BYTES, MAX_STEPS
from handrail.policy.validators.commands import MAX_ARG_BYTES
from handrail.policy.validators.scripts import ScriptValidator

ROOT = "/home/ada/project"
LINES = ScriptValidator(ROOT)
READ, WRITE, NET = Profile.READ, Profile.WRITE, Profile.NET


def judge(text: str, folder: str = ".") -> list[Finding]:
    return ScriptValidator(ROOT, folder=folder).validate_script(text)


def rules(text: str, folder: str = ".") -> list[str]:
    return [finding.rule for finding in judge(text, folder)]


def risk(text: str, folder: str = ".") -> RiskLevel:
    return worst(judge(text, folder))


# Plain lines


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "ls -la src | head -n 5",
        "rg -n 'def main' src | sort | uniq -c",
        "cat a.txt && cat b.txt || echo none; wc -l a.txt",
        "wc -l src/*.py",
        "cat a.txt 2>/dev/null",
        "cat a.txt b.txt > /dev/null 2>&1",
        "ls # what is there",
        "cat a.txt || true",
        "ls\ncat a.txt\n",
        "git log --oneline -20 | head",
        "find . -name '*.py' -not -path './node_modules/*'",
        "echo 'rm -rf /' \"$\"",
    ],
)
def test_line_of_programs_that_only_look_raises_no_concern(text: str) -> None:
    assert judge(text) == []


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("ls | npm install x", RiskLevel.MEDIUM),
        ("npm install x && ls", RiskLevel.MEDIUM),
        ("mkdir a; make", RiskLevel.MEDIUM),
        ("ls && rm a", RiskLevel.HIGH),
        ("ls || sudo ls", RiskLevel.FORBIDDEN),
        ("ls; no-such-thing", RiskLevel.HIGH),
        ("ls | bash", RiskLevel.HIGH),
        ("ls | nice rm a", RiskLevel.HIGH),
        ("ls | xargs sudo", RiskLevel.FORBIDDEN),
        ("find . -name '*.pyc' -delete", RiskLevel.HIGH),
        ("cat a && cat ../b", RiskLevel.HIGH),
        ("cat a; cat .env", RiskLevel.FORBIDDEN),
        ("bash script.sh", RiskLevel.HIGH),
    ],
)
def test_risk_of_a_line_is_the_worst_of_its_programs(text: str, level: RiskLevel) -> None:
    assert risk(text) is level


def test_concerns_of_all_programs_are_told_and_none_twice() -> None:
    assert rules("mkdir a; npm install x; mkdir b") == ["command.mkdir", "command.npm"]


def stage(argv: tuple[str, ...], *others: Any, **named: Any) -> Stage:
    """One that runs nothing else in turn."""
    return Stage(argv, *others, **named, programs=argv[:1])


def test_stages_are_the_programs_with_joins_streams_and_boxes_of_their_own() -> None:
    text = "rg x src 2>/dev/null | head -n 3 && npm install y 2>&1 || echo 'a b' >/dev/null; pwd"
    install = ("npm", "install", "--ignore-scripts", "y")
    assert LINES.stages_of(text) == (
        stage(("rg", "--no-config", "x", "src"), READ, stderr=Stream.NULL, named=("x", "src")),
        stage(("head", "-n", "3"), READ, Join.PIPE, named=("3",)),
        stage(
            install,
            NET,
            Join.AND,
            stderr=Stream.OUT,
            named=("install", "y"),
            networks=("npm",),
        ),
        stage(("echo", "a b"), READ, Join.OR, stdout=Stream.NULL, named=("a b",)),
        stage(("pwd",), READ, Join.THEN),
    )


@pytest.mark.parametrize(
    ("text", "argv", "places"),
    [
        ("wc -l src/*.py a b?", ("wc", "-l", "src/*.py", "a", "b?"), (2, 4)),
        ("rg x *.py", ("rg", "--no-config", "x", "*.py"), (3,)),
        ("nice rg '*' *", ("nice", "rg", "--no-config", "*", "*"), (4,)),
        ("echo '*' * '*'", ("echo", "*", "*", "*"), (2,)),
        ("rg --glob=*.py x", ("rg", "--no-config", "--glob=*.py", "x"), ()),
        ("find . -name '*.py'", ("find", ".", "-name", "*.py"), ()),
        ("git -C sub add sub *.py", ("git", "add", "sub", "*.py"), (3,)),
        ("git -C '*' add '*' *", ("git", "add", "*", "*"), (3,)),
    ],
)
def test_stages_say_which_words_are_patterns(
    text: str, argv: tuple[str, ...], places: tuple[int, ...]
) -> None:
    (stage,) = LINES.stages_of(text)
    assert (stage.argv, stage.patterns) == (argv, places)


@pytest.mark.parametrize("text", ["ls .git?", "cat .en?", "cat .py*"])
def test_the_names_of_a_pattern_are_judged_where_they_are_seen(text: str) -> None:
    assert risk(text) is RiskLevel.LOW


def test_pattern_has_no_class_where_a_path_in_its_place_has_none() -> None:
    assert LINES.class_of("pip install ./tool") is None
    assert LINES.class_of("pip install to*") is None
    assert LINES.class_of("git add to*") is not None


@pytest.mark.parametrize("text", ["git add *.py", "pytest tests/*.py", "mkdir *.d"])
def test_patterns_elsewhere_raise_nothing(text: str) -> None:
    assert risk(text) is RiskLevel.MEDIUM


# Changes of folder


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("cd src && ls", [(("ls",), Join.FIRST, "src")]),
        ("cd src; ls", [(("ls",), Join.FIRST, "src")]),
        ("cd src\nls", [(("ls",), Join.FIRST, "src")]),
        ("cd ./src/ && ls", [(("ls",), Join.FIRST, "src")]),
        ("cd 'a b' && ls", [(("ls",), Join.FIRST, "a b")]),
        ("cd src 2>/dev/null && ls", [(("ls",), Join.FIRST, "src")]),
        (f"cd {ROOT} && ls", [(("ls",), Join.FIRST, ".")]),
        (f"cd {ROOT}/src/deep && ls", [(("ls",), Join.FIRST, "src/deep")]),
        ("cd src/.. && ls", [(("ls",), Join.FIRST, ".")]),
        ("cd src && cd deep && ls", [(("ls",), Join.FIRST, "src/deep")]),
        ("cd src; cd ..; cd docs; ls", [(("ls",), Join.FIRST, "docs")]),
        (f"cd src && cd {ROOT}/docs && ls", [(("ls",), Join.FIRST, "docs")]),
        ("cd src && ls || pwd", [(("ls",), Join.FIRST, "src"), (("pwd",), Join.OR, "src")]),
        ("cd src && ls | head", [(("ls",), Join.FIRST, "src"), (("head",), Join.PIPE, "src")]),
        ("pwd; cd src && ls", [(("pwd",), Join.FIRST, "."), (("ls",), Join.THEN, "src")]),
        ("pwd | wc; cd a && cd b; ls", [
            (("pwd",), Join.FIRST, "."),
            (("wc",), Join.PIPE, "."),
            (("ls",), Join.THEN, "a/b"),
        ]),
        ("cd src && ls; cd ..; pwd", [(("ls",), Join.FIRST, "src"), (("pwd",), Join.THEN, ".")]),
    ],
    ids=ascii,
)  # fmt: skip
def test_folder_that_is_sure_to_be_entered_is_where_the_rest_runs(
    text: str, stages: list[tuple[tuple[str, ...], Join, str]]
) -> None:
    assert judge(text) == []
    assert [(one.argv, one.join, one.folder) for one in LINES.stages_of(text)] == stages


@pytest.mark.parametrize(
    "text",
    [
        "cd",
        "cd src",
        "cd && ls",
        "cd a b && ls",
        "cd -- src && ls",
        "cd - && ls",
        "cd -P && ls",
        "cd s* && ls",
        "cd src || ls",
        "cd src | ls",
        "ls | cd src",
        "ls | cd src && ls",
        "ls && cd src && ls",
        "ls || cd src && ls",
        "ls; cd src",
        "cd a && cd b | ls",
        "cd a && cd b || ls",
        "cd a && ls && cd b && ls",
    ],
)
def test_folder_that_only_a_shell_can_follow_makes_a_line_not_plain(text: str) -> None:
    assert rules(text) == ["bash.not-plain"]
    assert risk(text) is RiskLevel.HIGH
    assert LINES.class_of(text) is None
    (stage,) = LINES.stages_of(text)
    assert stage.argv[-1] == text


@pytest.mark.parametrize(
    "text",
    [
        "cd /etc && ls",
        "cd /home/ada && ls",
        "cd .. && ls",
        "cd src/../.. && ls",
        "cd src && cd ../.. && ls",
        f"cd {ROOT}/../other && ls",
        "cd '~' && ls",
        "cd '' && ls",
        "cd .ssh && ls",
        "ls; cd .. && rm x",
    ],
)
def test_no_folder_outside_or_protected_is_entered_without_a_question(text: str) -> None:
    assert risk(text) is RiskLevel.HIGH
    assert LINES.class_of(text) is None


def test_a_new_folder_can_be_entered_behind_the_command_that_makes_it() -> None:
    assert risk("mkdir d && cd d") is RiskLevel.HIGH
    assert risk("mkdir d; cd d && ls") is RiskLevel.MEDIUM


# Words are judged from the folder they are meant in


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("cat x", None),
        ("cat ../x", None),
        ("cat ../../x", "command.outside"),
        ("cat ../*", None),
        ("cat ../../*", "command.outside"),
        (f"cat {ROOT}/x", None),
        ("cat /etc/passwd", "command.outside"),
        ("cat /dev/null", None),
        ("cat .env", "path.dotenv"),
        ("cat ../.env", "path.dotenv"),
        ("ls ..", None),
        ("ls ../..", "command.outside"),
        ("rg x ../../y", "command.outside"),
        ("git -C .. status", None),
        ("git -C deep show HEAD:.env", "path.dotenv"),
    ],
)
def test_words_lead_from_the_folder_they_are_used_in(text: str, rule: str | None) -> None:
    expected = [] if rule is None else [rule]
    assert [*dict.fromkeys(rules(text, "src"))] == expected
    assert [*dict.fromkeys(rules(f"cd src && {text}"))] == expected
    assert [*dict.fromkeys(rules(f"cd src; ls | {text}"))] == expected


@pytest.mark.parametrize("folder", ["..", "/etc", "src/../..", ".ssh", "~", "", "a\nb", "a\\b"])
@pytest.mark.parametrize("text", ["ls", "echo $X"])
def test_no_line_runs_in_a_folder_outside_or_protected(folder: str, text: str) -> None:
    assert risk(text, folder) is RiskLevel.FORBIDDEN
    assert all(rule.startswith("path.") for rule in rules(text, folder))


@pytest.mark.parametrize("folder", ["src", "./src/", f"{ROOT}/src", "docs/../src"])
@pytest.mark.parametrize("text", ["ls", "echo $X"])
def test_stages_run_in_the_folder_that_was_named(folder: str, text: str) -> None:
    (stage,) = ScriptValidator(ROOT, folder=folder).stages_of(text)
    assert stage.folder == "src"


# Lines that are not plain

NOT_PLAIN = [
    "echo $HOME",
    "ls > out.txt",
    "X=1 make",
    "export X=1; make",
    "set -e; make",
    "source ./env.sh && make",
    'for f in *.py; do wc -l "$f"; done',
    "if [ -f a ]; then cat a; fi",
    'while read -r line; do echo "$line"; done < a',
    "(cd src && ls)",
    "cat <<EOF\n$x\nEOF",
    "ls $(pwd)",
    "cat {a,b}",
    "echo \x1b[2J",
    "echo \u202e",
    "ls &",
    "echo 'never closed",
    "cat " + "x" * MAX_BYTES,
    "; ".join(["ls"] * (MAX_STEPS + 1)),
]


@pytest.mark.parametrize("text", NOT_PLAIN, ids=lambda text: ascii(text)[:40])
def test_line_that_is_not_plain_asks_and_runs_as_bash_word_for_word(text: str) -> None:
    (finding,) = judge(text)
    assert (finding.rule, finding.risk) == ("bash.not-plain", RiskLevel.HIGH)
    assert finding.reason.endswith(", so it runs in bash and cannot be checked part by part")
    (stage,) = LINES.stages_of(text)
    bash = ("bash", "--noprofile", "--norc", "-c", text)
    assert stage._replace(named=()) == Stage(bash, WRITE)
    assert LINES.class_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "echo $(sudo x)",
        'echo "`sudo x`"',
        "X=$(sudo ls)",
        "for f in a; do sudo $f; done",
        "f() { sudo x; }",
        "$(echo x) | nice sudo y",
        "su''do $X",
        "cat <(sudo x)",
        "ls > a; sudo ls",
        "exec sudo $X",
        "command sudo $X",
        "set -e; sudo x",
        "exec sudo x",
        "command sudo ls",
        "export X=1; env sudo x",
        "echo $X | xargs sudo",
        "rm -rf ~",
        "rm -rf / > out",
        "git push -f > out",
        'eval "$X"',
    ],
)
def test_refused_command_is_seen_wherever_it_stands(text: str) -> None:
    assert "command.forbidden" in rules(text)
    assert risk(text) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    "text", ["no-such-thing > out", "rm $X", 'for f in *; do rm "$f"; done', "bash -c ls $0"]
)
def test_line_that_is_not_plain_is_not_refused_for_commands_that_are_asked_about(text: str) -> None:
    assert risk(text) is RiskLevel.HIGH


@pytest.mark.parametrize("line", ["git diff > x.patch", "wc -l $(git ls-files)", "(git log)"])
def test_that_git_does_not_work_in_a_line_that_is_not_plain_is_said(line: str) -> None:
    assert rules(line) == ["bash.not-plain", "bash.git"]


def test_what_a_listed_command_is_told_does_not_refuse_a_line_that_is_not_plain() -> None:
    assert rules("cat ../x > out") == ["bash.not-plain"]


@pytest.mark.parametrize(
    "word",
    ["alias x=ls", "cd ..", "declare x", "exit 1", "export X", "read x", "set -e", "shopt -s x",
     "source ./env.sh", ". ./env.sh", "trap ls EXIT", "true", "unset X", "test -f x", ": x"],
)  # fmt: skip
def test_words_of_the_shell_itself_are_not_refused_in_bash(word: str) -> None:
    assert rules(f"{word} > out") == ["bash.not-plain"]


# Lines that nobody is asked about


@pytest.mark.parametrize("text", ["", " ", "\n \t\n", "# only words", "\n  # one\n\t# two\n"])
def test_line_without_a_command_is_refused(text: str) -> None:
    (finding,) = judge(text)
    assert (finding.rule, finding.risk) == ("bash.spelling", RiskLevel.FORBIDDEN)
    assert finding.reason == "there is no command in it"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ls a\0b", "zero byte"),
        ("ls \ud800", "characters that an argument cannot contain"),
        ("ls " + "x" * MAX_ARG_BYTES, "100,003 bytes is more than the 100,000 allowed"),
        ("ls " + "é" * (MAX_ARG_BYTES // 2), "100,003 bytes is more than"),
    ],
    ids=["zero", "surrogate", "long", "long in bytes"],
)
def test_line_that_no_shell_could_be_handed_is_refused(text: str, why: str) -> None:
    (finding,) = judge(text)
    assert (finding.rule, finding.risk) == ("bash.spelling", RiskLevel.FORBIDDEN)
    assert why in finding.reason


def test_line_of_just_as_many_steps_as_allowed_is_plain() -> None:
    text = "; ".join(["ls"] * MAX_STEPS)
    assert judge(text) == []
    assert len(LINES.stages_of(text)) == MAX_STEPS


# Kinds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("npm install x", ("npm", "install")),
        ("ls | npm install x | tail -3", ("npm", "install")),
        ("cd web && npm install x; npm install y", ("npm", "install")),
        ("cd web && npm run build | tail", ("npm", "run", "build")),
        ("npm install x && npm test", None),
        ("npm install x; make", None),
        ("npm install x; rm y", None),
        ("npm install x > log", None),
        ("ls | head", None),
        ("python x.py", None),
    ],
)
def test_kind_is_the_one_of_all_that_do_more_than_look(
    text: str, kind: tuple[str, ...] | None
) -> None:
    found = LINES.class_of(text)
    words = None if found is None or found.is_exact else found.words.partition(" …")[0]
    assert words == (None if kind is None else " ".join(kind))


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("echo 'print(1)' | python3", RiskLevel.HIGH),
        ("echo 'print(1)' | python3 - a b", RiskLevel.HIGH),
        ("echo 'print(1)' | python3 -W ignore", RiskLevel.HIGH),
        ("echo 1 | node", RiskLevel.HIGH),
        ("cat a | timeout 5 python3 -u", RiskLevel.HIGH),
        ("cat a | python3 -m json.tool", RiskLevel.MEDIUM),
        ("cat a | python3 x.py", RiskLevel.MEDIUM),
        ("cat a | node x.js", RiskLevel.MEDIUM),
    ],
)
def test_code_that_comes_through_a_pipe_is_code_on_the_command_line(
    line: str, risk: RiskLevel
) -> None:
    assert worst(ScriptValidator("/ws").validate_script(line)) is risk


PIECES = st.sampled_from(
    [
        *("ls", "cd src", "cd", "rm", "git -C sub status", "git", "npm install", "python3 -"),
        *("-rf", ".", "/", "~", ".env", "*", "$X", "'a b'", '"', "#", "\n", "{", "}", "(", ")"),
        *("&&", "||", "|", ";", "&", ">", "<", "2>&1", ">&2", "<<E", "\\", "`", "X=1", "\ufe0f"),
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES | st.text(max_size=6), max_size=12).map(" ".join))
def test_no_line_breaks_the_judgement(text: str) -> None:
    findings = judge(text)
    assert findings == judge(text)
    assert all(finding.reason.isprintable() for finding in findings)
    if worst(findings) < RiskLevel.FORBIDDEN:
        LINES.rehearses(text)
        assert LINES.stages_of(text)
    if worst(findings) >= RiskLevel.HIGH:
        assert LINES.class_of(text) is None
