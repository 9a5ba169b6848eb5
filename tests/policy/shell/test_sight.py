"""Which commands can be seen in strings that are not plain."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.risk import RiskLevel, worst
from handrail.policy.shell.sight import MAX_CHARS, find_fork_bomb, look_through
from handrail.policy.validators.scripts import ScriptValidator

LINES = ScriptValidator("/home/ada/project")


def assert_seen(text: str) -> None:
    assert any(command[:2] == ("rm", "x") for command in look_through(text)), look_through(text)


@pytest.mark.parametrize(
    "text",
    [
        "rm x > y",
        "rm x &",
        "! rm x",
        "a |& rm x",
        "a && rm x || $b",
        "(rm x)",
        "{ rm x; }",
        "f() { rm x; }; f",
        "function f { rm x; }",
        "for f in *; do rm x; done",
        "while true; do rm x; done",
        "until true; do rm x; done",
        "if rm x; then a; fi",
        "if a; then b; else rm x; fi",
        "case a in b) rm x;; esac",
        "select a in b; do rm x; done",
        "[[ -n $(rm x) ]]",
        "[[ a ]] && rm x",
        "[[ a ]]&&rm x",
        "[[ a && b ]]; rm x",
        "A=1 rm x",
        "A=$(rm x)",
        "export A=$(rm x)",
        "A=$(rm x) b",
        "echo $(rm x)",
        "echo `rm x`",
        'echo "a $(rm x) b"',
        "echo ${a:-$(rm x)}",
        "echo $(( $(rm x) ))",
        "((a[$(rm x)]))",
        "cat <(rm x)",
        "tee >(rm x)",
        "a <<< $(rm x)",
        ">/dev/null rm x",
        "2>/dev/null >y rm x",
    ],
)
def test_a_command_is_seen_wherever_it_stands(text: str) -> None:
    assert_seen(text)


@pytest.mark.parametrize(
    "text",
    [
        *("r''m x > y", 'r""m x > y', '"rm" x > y', "'rm' x > y", "\\rm x > y", "r\\m x > y"),
        *('\'r\'"m" "x" > y', "r\\\nm x", "rm \\\n x > y", "$'rm' x", '$"rm" x'),
    ],
)
def test_a_name_in_quotes_is_seen(text: str) -> None:
    assert_seen(text)


@pytest.mark.parametrize(
    "text",
    [
        *("sh -c 'rm x'", "bash -lc 'a; rm x' $b", "/bin/sh -e -c 'rm x' > y", "eval 'rm x'"),
        *("bash -c \"sh -c 'rm x'\"", "bash --norc -c 'rm x'", "find . -exec sh -c 'rm x' \\;"),
    ],
)
def test_a_script_inside_a_script_is_read(text: str) -> None:
    assert_seen(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "sudo rm x",
            "env sudo x",
            "nice -n 10 sudo x",
            "timeout -s KILL 5 sudo x",
            "time sudo x",
        ),
        *("xargs -n 1 sudo x", "find . -exec sudo x ';'", "nohup sudo x &", "command sudo x"),
        *("env nice timeout 5 sudo x", "for a in b; do curl c; done", "rm -rf / > y"),
        *("a=$(ssh host id)", "git push --force > y"),
    ],
)
def test_what_is_refused_is_refused_in_a_line_of_bash_too(text: str) -> None:
    assert worst(LINES.validate_script(f"{text}; echo $a")) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    "text",
    ["rm x && (", "if true; then rm x", "a )( rm x", "rm x | | b", "rm x <<E", "rm x 'b"],
)
def test_broken_text_is_read_as_far_as_it_goes(text: str) -> None:
    assert_seen(text)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("git commit -m 'a; rm b' > c", (("git", "commit", "-m", "a; rm b", "c"),)),
        ('echo "a && rm b" > c', (("echo", "a && rm b", "c"),)),
        ("echo '$(rm a) `rm b`' > c", (("echo", "$(rm a) `rm b`", "c"),)),
        ("cat > a.sh <<'E'\nrm b\nE", (("cat", "a.sh"),)),
        ("echo >/dev/null rm", (("echo", "rm", "/dev/null"),)),
        ("a # rm b\n$c", (("a",), ("$c",))),
        ("rm x; rm x; (rm x)", (("rm", "x"),)),
        ("", ()),
    ],
)
def test_words_that_only_speak_of_a_command_are_none(
    text: str, commands: tuple[tuple[str, ...], ...]
) -> None:
    assert look_through(text) == commands


def test_a_message_in_a_here_document_is_no_script() -> None:
    text = "git commit -m \"$(cat <<'E'\nrm a, and `rm b`\nE\n)\""
    assert {command[0] for command in look_through(text)} == {"git", "cat"}


NASTY = [
    "(", "$(", "`", "{", "[", "<(", "${", "$((", '"$(', "'", '"', "<<a\n", "a|", "a;", "a&&", "if ",
    "for x in ", "case ", "f() {", "$'", "\\\n", "a=(", "!", "sh -c '", 'eval "', "sudo ", "eval ",
    "x=$x$x;", "\0", "\ud800", "é", "echo $(", "((", "))", "{a,", "function ", "a(){",
    ":(){ :|:& };", "f() { f", " <<E x\n", "<<E\n\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", NASTY, ids=ascii)
def test_no_string_takes_it_long(piece: str) -> None:
    text = piece * (MAX_CHARS // len(piece))
    began = time.process_time()
    look_through(text)
    find_fork_bomb(text)
    assert time.process_time() - began < 2


def test_a_command_far_beyond_the_limit_is_not_looked_for() -> None:
    assert look_through("a;" + " " * MAX_CHARS + "rm x") == (("a",),)


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from([*NASTY, "rm", "x", " ", "'", ";", "\n"]), max_size=40).map("".join)
)
def test_it_never_raises(text: str) -> None:
    assert all(command and command[0] for command in look_through(text))
    find_fork_bomb(text)


BOMBS = {
    "classic": ":(){ :|:& };:",
    "spaced": ": () { : | : & } ; :",
    "without blanks": ":(){:|:&};:",
    "lines": ":()\n{\n  :|:&\n}\n:",
    "keyword": "function : { :|:& }; :",
    "keyword and brackets": "function :(){ :|:& };:",
    "subshell": ":()(:|:&);:",
    "background": ":(){ :& :& };:",
    "one pipe": ":(){ :|: };:",
    "another name": "bomb(){ bomb|bomb& };bomb",
    "a name from the list": "ls(){ ls|ls& };ls",
    "behind something": "echo hello && :(){ :|:& };:",
    "a string inside": ":(){ echo '}' ; :|:& };:",
}
HARMLESS = {
    "no function": "echo a | cat & wait",
    "one after the other": "ls(){ ls; }; ls",
    "and": "ls(){ test -f a && ls || true; }; ls",
    "a string": "echo ':(){ :|:& };:'",
    "a comment": "ls # :(){ :|:& };:",
    "a here-document": "cat > notes.md <<'EOF'\n:(){ :|:& };:\nEOF\n",
    "to the same place": "ls(){ ls 2>&1; }; ls",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_fork_bomb_is_found(name: str) -> None:
    assert find_fork_bomb(BOMBS[name]) is not None
    assert worst(LINES.validate_script(BOMBS[name])) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize("name", HARMLESS)
def test_what_starts_nothing_over_and_over_is_none(name: str) -> None:
    assert find_fork_bomb(HARMLESS[name]) is None
