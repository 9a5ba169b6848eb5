"""Which commands can be seen in strings that are not plain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.policy.shell.sight import MAX_CHARS, look_through

Row = tuple[str, tuple[str, ...]]


def assert_seen(text: str, command: tuple[str, ...]) -> None:
    assert command in look_through(text).commands


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
        "cat <<E\n$(rm x)\nE",
        "a <<< $(rm x)",
        ">/dev/null rm x",
        "2>/dev/null >y rm x",
    ],
)
def test_a_command_is_seen_wherever_it_stands(text: str) -> None:
    assert_seen(text, ("rm", "x"))


@pytest.mark.parametrize(
    "text",
    [
        "r''m x > y",
        'r""m x > y',
        '"rm" x > y',
        "'rm' x > y",
        "\\rm x > y",
        "r\\m x > y",
        '\'r\'"m" "x" > y',
        "r\\\nm x",
        "rm \\\n x > y",
        "$'rm' x",
        "$'\\x72m' x",
        "$'\\162\\u006d' x",
        '$"rm" x',
        "rm${IFS}x",
        "rm$IFS'x'",
        "{rm,x}",
        "$(echo rm) x",
        "$(echo rm x)",
        "`echo rm` x",
        "a=rm; $a x",
        "a=rm; ${a} x",
        "a='rm x'; $a",
        'a=(rm x); "${a[@]}"',
        "$unknown rm x",
        '"$unknown"rm x',
    ],
)
def test_a_name_in_disguise_is_seen(text: str) -> None:
    assert_seen(text, ("rm", "x"))


@pytest.mark.parametrize(
    "text",
    [
        "sh -c 'rm x'",
        "bash -lc 'a; rm x' $b",
        "/bin/sh -e -c 'rm x' > y",
        "bash -c \"sh -c 'rm x'\"",
        "bash --norc -c 'rm x'",
        "eval 'rm x'",
        'eval "rm" x',
        "a='rm x'; eval \"$a\"",
        "trap 'rm x' EXIT",
        "alias l='rm x'",
        "env -S 'rm x'",
        "env -S'rm x'",
        "env --split-string='rm x'",
        "su root -c 'rm x'",
        "flock f -c 'rm x'",
        "watch -n1 'rm x'",
        "bash <<< 'rm x'",
        "bash <<E\nrm x\nE",
        "bash -s <<'E'\na\nrm x\nE",
        "cat <<E | sh\nrm x\nE",
        "echo 'rm x' | sh",
        "echo rm x | bash -s",
        "printf 'rm x' | sudo sh",
        "let 'a[$(rm x)]'",
        "test -v 'a[$(rm x)]'",
        "[ -v 'a[$(rm x)]' ]",
        "[[ -v 'a[$(rm x)]' ]]",
        "printf -v 'a[$(rm x)]' b",
        "read 'a[$(rm x)]'",
        "declare 'a[$(rm x)]=1'",
        "declare -n b='a[$(rm x)]'",
        "unset 'a[$(rm x)]'",
        "a='$(rm x)'; echo ${a@P}",
        "a='`rm x`'; echo \"${a@P}\"",
    ],
)
def test_a_script_inside_a_script_is_read(text: str) -> None:
    assert_seen(text, ("rm", "x"))


@pytest.mark.parametrize(
    "text",
    [
        "sudo rm x",
        "sudo -u root -n rm x",
        "sudo >/dev/null rm x",
        "doas -u root rm x",
        "env rm x",
        "env -i A=1 -u B rm x",
        "nice -n 10 rm x",
        "nice -10 rm x",
        "ionice -c 3 rm x",
        "nohup rm x &",
        "setsid rm x",
        "stdbuf -oL rm x",
        "timeout 5 rm x",
        "timeout -s KILL 5 rm x",
        "time rm x",
        "coproc rm x",
        "xargs rm x",
        "xargs -0 -n 1 rm x",
        "find . -exec rm x \\;",
        "find . -name a -execdir rm x ';' -print",
        "find . -ok rm x ';'",
        "command rm x",
        "builtin command rm x",
        "exec -a b rm x",
        "busybox rm x",
        "chroot /a rm x",
        "flock /a rm x",
        "sudo env nice -n 1 timeout 5 rm x",
        "find . -exec sh -c 'rm x' \\;",
        "xargs -I{} sh -c 'rm x'",
        "/usr/bin/env rm x",
    ],
)
def test_a_command_is_seen_behind_those_that_run_it(text: str) -> None:
    assert_seen(f"{text} # $a", ("rm", "x"))


@pytest.mark.parametrize(
    "text",
    [
        "rm x && (",
        "if true; then rm x",
        "a )( rm x",
        "a() rm x",
        "rm x | | b",
        "for do; rm x",
        "rm x <<E",
        "rm x 'b",
    ],
)
def test_broken_text_is_read_as_far_as_it_goes(text: str) -> None:
    assert any(command[:2] == ("rm", "x") for command in look_through(text).commands)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("git commit -m 'a; rm b' > c", (("git", "commit", "-m", "a; rm b"),)),
        ('echo "a && rm b" > c', (("echo", "a && rm b"),)),
        ("echo '$(rm a) `rm b`' > c", (("echo", "$(rm a) `rm b`"),)),
        ("cat > a.sh <<'E'\nrm b\nE", (("cat",),)),
        ("xargs -n1 grep -l rm < a", (("xargs", "-n1", "grep", "-l", "rm"), ("grep", "-l", "rm"))),
        ("echo >/dev/null rm", (("echo", "rm"),)),
        ("a # rm b\n$c", (("a",),)),
        ("for rm in a; do $b; done", ()),
        ("case $a in rm) b;; (rm|c) d;; esac", (("b",), ("d",))),
        (
            "[[ $a =~ ^(rm|b)$ && rm < c ]]; d",
            (("[[", "", "=~", "^", "rm", "b", "$", "rm", "c", "]]"), ("d",)),
        ),
        ("rm() { a; }", (("a",),)),
        ("echo a rm b | cat > c", (("echo", "a", "rm", "b"), ("cat",))),
        ("sh ./rm.sh > a", (("sh", "./rm.sh"),)),
    ],
)
def test_words_that_only_speak_of_a_command_are_none(
    text: str, commands: tuple[tuple[str, ...], ...]
) -> None:
    assert look_through(text).commands == commands


def test_a_message_in_a_here_document_is_no_script() -> None:
    text = "git commit -m \"$(cat <<'E'\nrm a, and `rm b`\nE\n)\""
    assert {command[0] for command in look_through(text).commands} == {"git", "cat"}


def test_what_only_a_shell_could_know_is_left_out() -> None:
    assert look_through('rm $a -rf "$b"/c').commands == (("rm", "", "-rf", "/c"),)


def test_each_command_is_told_once() -> None:
    assert look_through("rm x; rm x; (rm x)").commands == (("rm", "x"),)


NASTY = [
    "(", "$(", "`", "{", "[", "<(", "${", "$((", '"$(', "'", '"', "<<a\n", "a|", "a;", "a&&", "if ",
    "for x in ", "case ", "f() {", "$'", "\\\n", "a=(", "!", "sh -c '", 'eval "', "sudo ",
    "x=$x$x;", "\0", "\ud800", "é", "echo $(", "((", "))", "{a,",
]  # fmt: skip


@pytest.mark.parametrize("piece", NASTY, ids=ascii)
@pytest.mark.timeout(20)
def test_no_string_takes_it_long(piece: str) -> None:
    look_through(piece * (MAX_CHARS // len(piece)))


@pytest.mark.timeout(20)
def test_scripts_in_scripts_end_somewhere() -> None:
    text = "rm x"
    for _ in range(40):
        text = "sh -c " + "'" + text.replace("'", "'\\''")[:MAX_CHARS] + "'"
    assert look_through(text).commands
    assert look_through("sudo " * 5_000 + "rm x").commands
    assert look_through("a='$a $a'; eval " + '"$a$a";' * 500).commands


def test_a_command_far_beyond_the_limit_is_not_looked_for() -> None:
    assert look_through("a;" + " " * MAX_CHARS + "rm x").commands == (("a",),)


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from([*NASTY, "rm", "x", " ", "'", ";", "\n"]), max_size=40).map("".join)
)
def test_it_never_raises(text: str) -> None:
    assert all(command and command[0] for command in look_through(text).commands)


@pytest.mark.parametrize(
    "line",
    ["$y; find a -exec xargs -d + rm x ';'", "$y; find a -exec cat {} + -exec rm x ';'"],
)
def test_a_plus_ends_a_command_of_find_only_behind_what_was_found(line: str) -> None:
    assert_seen(line, ("rm", "x"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "words",
    ["-exec find ", "-exec find -exec x ", "-exec xargs find ", "-exec env find a ", "-exec sudo "],
)
def test_words_within_words_are_not_seen_many_times_over(words: str) -> None:
    text = "$y find " + words * 800

    seen = look_through(text).commands

    assert len(seen) <= 10
    assert sum(map(len, seen)) <= 3 * len(text.split())


@pytest.mark.timeout(60)
def test_all_that_is_seen_is_no_more_than_a_few_times_the_text() -> None:
    text = "$y; " + "".join(f"env nice timeout {number} nohup setsid x;" for number in range(1_500))

    seen = look_through(text + "sudo " * 5_000).commands

    assert sum(map(len, seen)) <= MAX_CHARS
