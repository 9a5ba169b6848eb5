"""A setting that comes, goes or moves is told, and refused where git may run or trust it."""

import pytest

from handrail.core.effects import GitWeight
from handrail.executors.git_effects.settings import Setting, parse_settings, tell_settings


def tell(
    before: list[Setting], after: list[Setting], *, is_new: bool = False, module: str = ""
) -> list[tuple[GitWeight, str]]:
    told = tell_settings(before, after, is_new=is_new, module=module)
    return [(note.weight, note.words) for note in told]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("user.name", "Bob"),
        ("branch.a.b.remote", "origin"),
        ("remote.origin.url", "https://example.org/x.git"),
        ("remote.origin.url", "git@example.org:x.git"),
        ("pull.rebase", "true"),
        ("submodule.lib.update", "merge"),
    ],
)
def test_a_harmless_setting_is_told(key: str, value: str) -> None:
    assert tell([], [(key, value)]) == [(GitWeight.SETTING, f"setting: {key} = {value}")]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.fsmonitor", "./x"),
        ("core.hookspath", "x"),
        ("core.worktree", "/etc"),
        ("include.path", "../x"),
        ("includeif.onbranch:x.path", "../x"),
        ("alias.st", "!x"),
        ("filter.x.clean", "x"),
        ("remote.origin.url", "ext::sh -c x"),
        ("remote.origin.url", "-x"),
        ("remote.origin.url", "https://a\nhttps://b"),
        ("remote.origin.uploadpack", "x"),
        ("remote.origin.promisor", "true"),
        ("submodule.lib.update", "!x"),
        ("url.x.insteadof", "https://example.org/"),
        ("user.name", "a\nb"),
        ("unheard.of", "x"),
    ],
)
def test_a_setting_that_git_may_run_or_trust_is_refused(key: str, value: str) -> None:
    ((weight, words),) = tell([], [(key, value)])
    assert weight is GitWeight.REFUSED
    assert key in words


def test_settings_that_each_new_repository_gets_are_not_told() -> None:
    born: list[Setting] = [("core.bare", "false"), ("core.repositoryformatversion", "0")]
    assert tell([], born, is_new=True) == []
    assert len(tell([], born)) == len(born)


def test_only_a_submodule_may_say_where_its_files_are() -> None:
    where: list[Setting] = [("core.worktree", "../../../lib")]
    assert tell([], where, is_new=True, module=".git/modules/lib") == []
    assert tell([], where, module=".git/modules/lib")[0][0] is GitWeight.SETTING


@pytest.mark.parametrize("value", ["/etc", "../../..", "../../../..", "../../../../x", "../x"])
def test_the_files_of_a_submodule_lie_in_a_folder_of_the_workspace(value: str) -> None:
    ((weight, _),) = tell([], [("core.worktree", value)], is_new=True, module=".git/modules/lib")
    assert weight is GitWeight.REFUSED


def test_a_removed_setting_is_told() -> None:
    told = tell([("remote.x.url", "https://example.org/")], [])
    assert told == [(GitWeight.SETTING, "setting removed: remote.x.url = https://example.org/")]


def test_settings_in_another_order_are_refused() -> None:
    """The last of two values counts."""
    one: list[Setting] = [("core.sshcommand", "a")]
    other: list[Setting] = [("core.sshcommand", "b")]
    ((weight, _),) = tell([*one, *other], [*other, *one])
    assert weight is GitWeight.REFUSED


def test_a_key_without_a_value_is_read() -> None:
    assert parse_settings(b"core.bare\0user.name\nBob\0") == [
        ("core.bare", None),
        ("user.name", "Bob"),
    ]
