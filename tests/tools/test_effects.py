"""The card of a rehearsed command lists every change and shows the diff of each text file."""

from typing import Any

import pytest

from handrail.core.effects import (
    Dropped,
    Effect,
    Effects,
    GitEffects,
    GitNote,
    GitWeight,
    Node,
)
from handrail.core.files import EntryKind
from handrail.policy.rulebook.rules import default_rules
from handrail.tools.effects import LISTED_CHANGES, Shown, show_effects

Versions = tuple[bytes | None, bytes | None]


def node(content: bytes | None, mode: int = 0o644) -> Node | None:
    if content is None:
        return None
    return Node(EntryKind.FILE, mode=mode, size=len(content), sha256=content.hex())


def show(contents: dict[str, Versions], *others: Effect, **more: Any) -> str:
    return draw(contents, *others, **more).text


def draw(contents: dict[str, Versions], *others: Effect, **more: Any) -> Shown:
    changes = [Effect(path, node(old), node(new)) for path, (old, new) in contents.items()]
    effects = Effects(tuple(sorted([*changes, *others], key=lambda one: one.path)), **more)
    return show_effects(effects, default_rules(), lambda one: contents.get(one.path, (None, None)))


def test_changes_are_listed_in_order_of_concern_and_then_shown() -> None:
    assert show(
        {"a.py": (b"1\n", b"2\n"), "Makefile": (None, b"all:\n"), "b.py": (b"x\n", None)}
    ) == (
        "[added] Makefile: 5 bytes, runs by itself\n"
        "[deleted] b.py: 2 bytes\n"
        "[changed] a.py: 2 bytes\n"
        "[diff] Makefile\n--- /dev/null\n+++ b/Makefile\n@@ -0,0 +1,1 @@\n+all:\n"
        "[diff] b.py\n--- a/b.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"
        "[diff] a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-1\n+2\n"
    )


def test_notes_about_git_come_first_and_a_loss_says_so() -> None:
    notes = (GitNote(GitWeight.LOSS, "moves v1"), GitNote(GitWeight.CHANGE, "new commit “x”"))
    text = show({"a.py": (None, b"1\n")}, git=GitEffects(notes))
    assert text.startswith("[git, LOST] moves v1\n[git] new commit “x”\n[added] a.py: 2 bytes\n")


def test_a_new_content_is_shown_though_it_is_committed_at_once() -> None:
    paths = frozenset({"a.py"})
    contents: dict[str, Versions] = {"a.py": (b"1\n", b"2\n")}
    assert "+2\n" in show(contents, git=GitEffects(as_git=paths))
    assert show(contents, git=GitEffects(as_git=paths, known=paths)) == ""


def test_a_renamed_file_is_one_line() -> None:
    text = show({"old.py": (b"same\n", None), "new.py": (None, b"same\n")})
    assert text == "[renamed] old.py → new.py: 5 bytes\n"


def test_other_attributes_are_told() -> None:
    listed = Node(EntryKind.FILE, size=1, sha256="a", xattrs="x")
    plain = Node(EntryKind.FILE, size=1, sha256="a")
    text = show({}, Effect("a", plain, listed), Effect("b", None, listed))
    assert text == (
        "[added] b: 1 bytes, extended attributes or access list\n"
        "[mode] a: extended attributes or access list\n"
        "[content not shown: b]\n"
    )


def test_modes_and_links_are_told() -> None:
    link = Node(EntryKind.LINK, sha256="t", target="/etc")
    text = show(
        {},
        Effect("run.py", node(b"a"), node(b"a", 0o755)),
        Effect("l", None, link),
        Effect("d", None, Node(EntryKind.DIRECTORY, mode=0o755)),
    )
    assert text == (
        "[linked] l: link to /etc, leads out of the workspace, never applied\n"
        "[mode] run.py: +x, mode 0644 → 0755, runs by itself\n"
        "[added] d: folder\n"
    )


def test_binaries_are_told_by_kind_and_size() -> None:
    text = show({"a.png": (None, b"\x89PNG\r\n\0\0"), "b.py": (b"\0old", b"text\n")})
    assert "[added] a.png: PNG image, 8 bytes\n" in text
    assert text.endswith("[content not shown: a.png, b.py]\n")


def test_what_does_not_fit_is_named() -> None:
    large = b"".join(b"line %d\n" % n for n in range(15_000))
    text = show({f"{n}.py": (None, large.replace(b"9", b"%d" % n)) for n in range(9)})
    assert len(text) < 500_000
    assert "[content not shown:" in text
    assert all(f"[added] {n}.py" in text for n in range(9))


def test_no_more_is_compared_than_takes_a_moment() -> None:
    large = b"x\n" * 400_000
    text = show({f"{n:02}.py": (large, large.replace(b"x", b"y", n + 1)) for n in range(9)})
    assert text.count("--- a/") == 6
    assert text.endswith("[content not shown: 06.py, 07.py, 08.py]\n")


def test_a_long_list_ends_with_a_count() -> None:
    text = show({f"{n:04}.py": (None, b"") for n in range(LISTED_CHANGES + 7)})
    assert "[7 further changes not listed]\n" in text


def test_scratch_and_hidden_files_and_refusals_are_told() -> None:
    text = show(
        {}, dropped=(Dropped("__pycache__", 3),), hidden=(".env",), refusals=("'p' is a socket",)
    )
    assert text == (
        "['p' is a socket]\n"
        "[scratch, not applied] __pycache__: 3 files\n"
        "[hidden from the command] .env\n"
    )


def test_the_content_of_a_guarded_file_is_not_shown() -> None:
    text = show({".env": (b"PASSWORD=1\n", b"PASSWORD=2\n")})
    assert text == ("[changed] .env: 11 bytes, never applied\n[content not shown: .env]\n")


def test_no_name_can_pass_for_something_else() -> None:
    text = show({"a\n+++ b/x.py": (None, b"b\n")})
    assert text.startswith("[added] a\\x0a+++ b/x.py: ")


def test_a_card_that_shows_everything_says_so() -> None:
    assert draw({"a": (None, b"a\n"), "b": (b"\0", b"\0\1"), "c": (b"c\n", None)}).not_shown == ""


@pytest.mark.parametrize(
    ("versions", "reason"),
    [
        ((b"old\n", b"new \xff\n"), "1 changed file is not shown whole"),
        ((b"\xff\n", b"import os\n"), "1 changed file is not shown whole"),
        ((None, b"+\n" * 100_000), "1 changed file is not shown whole"),
        ((None, b"x" * 5_000 + b"\n"), "1 changed file is not shown whole"),
    ],
)
def test_a_change_of_which_a_part_is_missing_is_told(versions: Versions, reason: str) -> None:
    assert draw({"a": versions}).not_shown == reason


def test_a_content_that_was_too_large_to_be_read_is_told() -> None:
    assert draw({}, Effect("a", None, node(b"a"))).not_shown == "1 changed file is not shown whole"


def test_many_harmless_changes_do_not_push_another_out_of_sight() -> None:
    harmless: dict[str, Versions] = {
        f"a/{i}": (None, b"harmless\n" * 40) for i in range(LISTED_CHANGES + 700)
    }
    drawn = draw({**harmless, "z.py": (b"old\n", b"new\n")})
    assert "[changed] z.py" not in drawn.text
    assert drawn.not_shown.startswith("701 changes are not listed and ")
