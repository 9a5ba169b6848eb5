import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.tools.diff import SHOWN_BYTES, Diff, unified_diff

TEXTS = st.lists(st.sampled_from("abcdefghijkl"), max_size=40).map("\n".join)


def shown(old: str | None, new: str) -> str:
    diff = unified_diff("a.py", old, new)
    assert diff.whole
    return diff.text


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def test_equal_texts_have_no_diff() -> None:
    assert unified_diff("a.py", "same\n", "same\n") == Diff("", whole=True)


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
    assert shown(None, "") == "--- /dev/null\n+++ b/a.py\n"


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


def test_long_line_is_cut_and_said_to_be() -> None:
    diff = unified_diff("a.js", "", "x" * 5_000)
    assert not diff.whole
    assert f"+{'x' * 2_000}\n[3,000 more characters in this line]\n" in diff.text


def test_what_is_removed_does_not_crowd_out_what_comes() -> None:
    diff = unified_diff("a.py", numbered(15_000), "import evil\n")
    assert not diff.whole
    assert "-line 200\n[14,800 more lines are removed]\n+import evil\n" in diff.text


def test_diff_too_long_to_be_shown_is_cut_and_said_to_be() -> None:
    diff = unified_diff("a.py", None, numbered(20_000))
    assert not diff.whole
    assert diff.text.endswith("[the rest is too long to be shown]\n")
    assert len(diff.text.encode()) < SHOWN_BYTES + 100


def test_texts_too_large_to_compare_are_shown_from_where_they_differ() -> None:
    diff = unified_diff("a.log", numbered(50_000), "short\n")
    assert not diff.whole
    assert diff.text == (
        "--- a/a.log\n+++ b/a.log\n"
        "[too large to compare: 50,000 lines behind line 0 become 1]\n+short\n"
    )


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
