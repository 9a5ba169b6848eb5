"""Effects are values: what happens to a path follows from its nodes, and one digest binds all."""

import json
from dataclasses import replace

import pytest

from handrail.core.effects import Dropped, Effect, EffectKind, Effects, Node
from handrail.core.files import EntryKind

FOLDER = Node(EntryKind.DIRECTORY, mode=0o755)
LINK = Node(EntryKind.LINK, sha256="t", target="a")
PIPE = Node(EntryKind.OTHER, mode=0o644)


def file(content: str, mode: int = 0o644) -> Node:
    return Node(EntryKind.FILE, mode=mode, size=len(content), sha256=f"sha of {content}")


def added(path: str, content: str) -> Effect:
    return Effect(path, None, file(content))


def deleted(path: str, content: str) -> Effect:
    return Effect(path, file(content), None)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (None, file("a"), EffectKind.ADDED),
        (None, FOLDER, EffectKind.ADDED),
        (file("a"), None, EffectKind.DELETED),
        (FOLDER, None, EffectKind.DELETED),
        (file("a"), file("b"), EffectKind.CHANGED),
        (file("a"), file("b", 0o755), EffectKind.CHANGED),
        (file("a"), FOLDER, EffectKind.CHANGED),
        (file("a"), file("a", 0o755), EffectKind.MODE),
        (file("a"), replace(file("a"), xattrs="x"), EffectKind.MODE),
        (FOLDER, replace(FOLDER, mode=0o700), EffectKind.MODE),
        (None, LINK, EffectKind.LINKED),
        (file("a"), LINK, EffectKind.LINKED),
        (LINK, file("a"), EffectKind.CHANGED),
        (None, PIPE, EffectKind.SPECIAL),
    ],
)
def test_the_kind_follows_from_both_nodes(
    before: Node | None, after: Node | None, kind: EffectKind
) -> None:
    assert Effect("a", before, after).kind is kind


def test_nodes_that_differ_in_time_alone_are_equal() -> None:
    assert replace(file("a"), modified_ns=1) == replace(file("a"), modified_ns=2)


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        (None, file("a", 0o755), True),
        (file("a"), file("a", 0o654), True),
        (file("a", 0o700), file("b", 0o755), False),
        (None, FOLDER, False),
        (file("a", 0o755), None, False),
    ],
)
def test_only_a_file_that_was_not_executable_is_made_so(
    before: Node | None, after: Node | None, made: bool
) -> None:
    assert Effect("a", before, after).makes_executable is made


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (file("a"), None, True),
        (file("a"), file("b"), True),
        (file("a"), FOLDER, True),
        (LINK, None, True),
        (file("a"), file("a", 0o755), False),
        (FOLDER, None, False),
        (None, file("a"), False),
    ],
)
def test_content_is_lost_where_a_file_is_deleted_or_overwritten(
    before: Node | None, after: Node | None, lost: bool
) -> None:
    assert Effect("a", before, after).loses_content is lost


def test_a_deleted_and_an_added_file_of_the_same_content_are_one_that_was_renamed() -> None:
    changes = (deleted("a", "x"), deleted("b", "y"), added("c", "y"), added("d", "z"))
    assert Effects(changes).renames == {"c": "b"}


def test_of_several_equal_files_those_of_the_same_name_belong_together() -> None:
    changes = (
        *(deleted("old/a", "x"), deleted("old/b", "x")),
        *(added("new/b", "x"), added("new/a", "x"), added("new/c", "x")),
    )
    assert Effects(changes).renames == {"new/a": "old/a", "new/b": "old/b"}


def test_an_empty_file_is_renamed_only_under_its_own_name() -> None:
    changes = (deleted("a", ""), deleted("d/b", ""), added("c", ""), added("e/b", ""))
    assert Effects(changes).renames == {"e/b": "d/b"}


def test_the_digest_covers_everything_that_is_shown() -> None:
    effects = Effects((Effect("a", file("a"), file("b")),))
    change = effects.changes[0]
    others = [
        Effects(),
        Effects((replace(change, path="b"),)),
        Effects((replace(change, before=file("c")),)),
        Effects((replace(change, before=None),)),
        Effects((replace(change, after=file("c")),)),
        Effects((replace(change, after=file("b", 0o755)),)),
        Effects((replace(change, after=replace(file("b"), xattrs="x")),)),
        replace(effects, dropped=(Dropped("__pycache__", 2),)),
        replace(effects, hidden=(".env",)),
        replace(effects, refusals=("no",)),
    ]
    digests = {one.digest for one in (effects, *others)}
    assert len(digests) == len(others) + 1
    assert Effects((Effect("a", file("a"), file("b")),)).digest == effects.digest


def test_an_effect_survives_being_written_down() -> None:
    for change in (Effect("é", file("a"), LINK), added("b", "b"), Effect("c", FOLDER, None)):
        assert Effect.from_json(json.loads(json.dumps(change.as_json()))) == change
