"""What a box must cover is found by the rules, under every name it has, as it is now."""

import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded import names as module
from handrail.executors.guarded import stamp
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox import bubblewrap
from handrail.executors.sandbox.bubblewrap import GitAccess, is_among
from handrail.policy.rulebook.paths import Access, PathRule
from handrail.policy.rulebook.rules import Rules


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def age(folder: Path) -> None:
    """Make a folder one that nobody has changed for long."""
    long_ago = time.time_ns() - 60 * 10**9
    os.utime(folder, ns=(long_ago, long_ago))


def test_secrets_are_hidden_wherever_they_lie(root: Path, guarded: GuardedNames) -> None:
    secret = put(root / "app" / "deep" / ".env")
    key = put(root / "server.pem")
    put(root / "app" / "main.py")

    assert set(guarded.view().hidden_files) == {str(secret), str(key)}


def test_a_folder_of_secrets_is_hidden_whole(root: Path, guarded: GuardedNames) -> None:
    put(root / ".ssh" / "config")

    view = guarded.view()
    assert (view.hidden_files, view.hidden_folders) == ((), (str(root / ".ssh"),))


PASSWORD = "[http]\n\textraHeader = Authorization: Basic c2VjcmV0\n"


@pytest.mark.parametrize("git", GitAccess)
def test_settings_are_shown_without_passwords_and_stay_as_they_are(
    root: Path, guarded: GuardedNames, git: GitAccess
) -> None:
    plain = put(root / ".git" / "config", "[core]\n\tbare = false\n")
    inner = put(root / "inner" / ".git" / "config", PASSWORD)
    damaged = put(root / "other" / ".git" / "config", "[core\n")

    view = guarded.view(git)

    assert {*view.copies} == {str(inner)}
    assert b"c2VjcmV0" not in view.copies[str(inner)]
    assert view.hidden_files == (str(damaged),)
    assert is_among(str(inner), view.frozen)
    assert is_among(str(plain), view.frozen) is (git is not GitAccess.ALL)


def test_repositories_are_frozen_open_or_held(root: Path, guarded: GuardedNames) -> None:
    git = root / ".git"
    (git / "hooks").mkdir(parents=True)
    for name in ("config", "modules/part/HEAD", "modules/part/config", "worktrees/tree/commondir"):
        put(git / name)
    put(git / "worktrees/tree/HEAD")
    pointer = put(root / "part" / ".git", "gitdir: ../.git/modules/part\n")

    assert {*guarded.view().frozen} == {str(git), str(pointer)}
    assert guarded.view(GitAccess.ALL).frozen == ()
    held = guarded.view(GitAccess.CONTENT)
    names = ("hooks", "config", "modules/part/config", "worktrees/tree/commondir")
    assert {*held.frozen} == {*(str(git / name) for name in names), str(pointer)}
    names = ("info", "modules/part/hooks", "modules/part/info", "worktrees/tree/hooks")
    assert {str(git / name) for name in names} <= {*held.missing}
    assert str(git) in held.pinned
    assert held.gits == (str(git),)


def test_repositories_further_down_are_frozen_too(root: Path, guarded: GuardedNames) -> None:
    put(root / "vendor" / "lib" / ".git" / "HEAD")

    view = guarded.view()
    assert view.frozen == (str(root / "vendor/lib/.git"),)
    assert view.pinned == [str(root / "vendor"), str(root / "vendor/lib")]


def test_what_must_not_come_into_being_is_named(root: Path, guarded: GuardedNames) -> None:
    assert set(guarded.view().missing) == {str(root / ".git"), str(root / ".handrail")}

    put(root / ".git" / "HEAD")
    assert guarded.view().missing == (str(root / ".handrail"),)


def test_a_second_name_of_a_secret_is_hidden_too(root: Path, guarded: GuardedNames) -> None:
    secret = put(root / ".env")
    other = root / "notes.txt"
    os.link(secret, other)

    assert set(guarded.view().hidden_files) == {str(secret), str(other)}


def test_a_second_name_of_a_file_that_is_no_secret_is_left_alone(
    root: Path, guarded: GuardedNames
) -> None:
    os.link(put(root / "a.txt"), root / "b.txt")

    assert guarded.view().hidden_files == ()


def test_a_second_name_of_a_private_file_of_elsewhere_is_hidden(root: Path, tmp_path: Path) -> None:
    token = put(tmp_path / "home" / "token")
    os.link(token, root / "notes.txt")

    with FileSystemExecutor(root, private=[tmp_path / "home"]) as files:
        names = GuardedNames(files.root, files.rules, files.second_names)
        assert names.view().hidden_files == (str(root / "notes.txt"),)


def test_a_link_with_a_guarded_name_has_its_target_covered(
    root: Path, guarded: GuardedNames
) -> None:
    target = put(root / "settings" / "production.txt")
    (root / ".env").symlink_to(target)
    (root / "elsewhere.pem").symlink_to("/etc/hostname")

    assert guarded.view().hidden_files == (str(target),)


def test_a_link_with_a_guarded_name_is_followed_anew_each_time(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that it lies in need not have changed."""
    old = put(root / "releases" / "one" / "x.txt")
    (root / "releases" / "now").symlink_to("one")
    (root / "app" / "config").mkdir(parents=True)
    (root / "app" / ".env").symlink_to("config/local.txt")
    (root / "app" / "secrets.json").symlink_to("../releases/now/x.txt")
    monkeypatch.setattr(stamp, "_STILL_NS", -(10**18))
    assert guarded.view().hidden_files == (str(old),)

    come = put(root / "app" / "config" / "local.txt")
    moved = put(root / "releases" / "two" / "x.txt")
    (root / "releases" / "now").unlink()
    (root / "releases" / "now").symlink_to("two")
    assert set(guarded.view().hidden_files) == {str(come), str(moved)}


def test_what_a_link_in_a_hidden_folder_leads_to_is_hidden(
    root: Path, guarded: GuardedNames
) -> None:
    key = put(root / "keys" / "work.txt")
    second = root / "second.txt"
    second.hardlink_to(key)
    put(root / ".ssh" / "config")
    (root / ".ssh" / "id").symlink_to("../keys/work.txt")
    (root / ".ssh" / "own").symlink_to("config")

    view = guarded.view()
    assert set(view.hidden_files) == {str(key), str(second)}
    assert view.hidden_folders == (str(root / ".ssh"),)


def test_a_folder_to_which_a_guarded_link_leads_is_hidden_with_all_its_names(
    root: Path, guarded: GuardedNames
) -> None:
    key = put(root / "keys" / "deep" / "work.txt")
    second = root / "second.txt"
    second.hardlink_to(key)
    far = put(root / "far.txt")
    (root / "keys" / "far").symlink_to("../far.txt")
    (root / ".ssh").symlink_to("keys")

    view = guarded.view()
    assert set(view.hidden_files) == {str(second), str(far)}
    assert view.hidden_folders == (str(root / "keys"),)


def test_a_folder_is_seen_again_when_no_guarded_link_leads_there_any_more(
    root: Path, guarded: GuardedNames
) -> None:
    put(root / "keys" / "x.txt")
    (root / "keys" / "itself").symlink_to("../keys")
    (root / ".ssh").symlink_to("keys")
    assert guarded.view().hidden_folders == (str(root / "keys"),)

    (root / ".ssh").unlink()
    assert guarded.view().hidden_folders == ()


def test_links_that_lead_on_and_on_are_said(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_ROUNDS", 2)
    for number in range(3):
        (root / f"f{number}").mkdir()
        (root / f"f{number}" / "on").symlink_to(f"../f{number + 1}")
    (root / "f3").mkdir()
    (root / ".ssh").symlink_to("f0")

    with pytest.raises(CommandExecutionError, match="too often to be followed"):
        guarded.view()


def test_a_secret_that_appears_later_is_found(root: Path, guarded: GuardedNames) -> None:
    put(root / "app" / "main.py")
    age(root / "app")
    assert guarded.view().hidden_files == ()

    secret = put(root / "app" / ".env")
    assert guarded.view().hidden_files == (str(secret),)


def test_a_change_in_the_very_moment_of_the_look_is_not_missed(
    root: Path, guarded: GuardedNames
) -> None:
    put(root / "main.py")
    guarded.view()
    before = root.stat()

    secret = put(root / ".env")
    # The clock of the file system has not ticked in between.
    os.utime(root, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert guarded.view().hidden_files == (str(secret),)


def test_a_folder_that_has_been_still_is_not_read_again(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = put(root / ".env")
    monkeypatch.setattr(stamp, "_STILL_NS", -(10**18))
    guarded.view()

    def refuse(path: object) -> None:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr(os, "scandir", refuse)
    assert guarded.view().hidden_files == (str(secret),)


def test_other_rules_are_followed_from_then_on(root: Path, guarded: GuardedNames) -> None:
    put(root / ".env")
    guarded.view()

    guarded.adopt(Rules())

    assert guarded.view().hidden_files == ()


def test_more_than_a_box_can_cover_is_said(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_COVERED", 2)
    for number in range(3):
        put(root / f"{number}.pem")

    with pytest.raises(CommandExecutionError, match="3 files that no command may see"):
        guarded.view()


def test_more_folders_than_can_be_looked_through_are_said(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FOLDERS", 2)
    put(root / "a" / "b" / "c" / "x")

    with pytest.raises(CommandExecutionError, match="work in a smaller folder"):
        guarded.view()


def test_a_folder_that_is_gone_by_then_is_passed_over(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root / "a" / "x")
    put(root / "b" / ".env")
    real = os.stat

    def vanishing(path: str, **how: bool) -> os.stat_result:
        if str(path).endswith("/a"):
            raise FileNotFoundError(path)
        return real(path, **how)

    monkeypatch.setattr(os, "stat", vanishing)
    assert guarded.view().hidden_files == (str(root / "b" / ".env"),)


def test_what_leads_to_other_processes_is_hidden_even_from_git(
    root: Path, guarded: GuardedNames
) -> None:
    os.mkfifo(root / "pipe")
    os.mkfifo(put(root / ".git" / "x").parent / "pipe")

    for git in GitAccess:
        hidden = guarded.view(git).hidden_files
        assert set(hidden) == {str(root / "pipe"), str(root / ".git" / "pipe")}


@pytest.mark.parametrize("place", [".aws/config", ".aws/deep/er/config"])
def test_a_second_name_of_what_lies_in_a_hidden_folder_is_hidden(
    root: Path, guarded: GuardedNames, place: str
) -> None:
    second = root / "second.txt"
    second.hardlink_to(put(root / place))

    view = guarded.view()
    assert view.hidden_files == (str(second),)
    assert view.hidden_folders == (str(root / ".aws"),)


def test_a_second_name_of_what_a_guarded_link_leads_to_is_hidden(
    root: Path, guarded: GuardedNames
) -> None:
    real = put(root / "real.txt")
    (root / "second.txt").hardlink_to(real)
    (root / ".env").symlink_to("real.txt")

    assert set(guarded.view().hidden_files) == {str(real), str(root / "second.txt")}


def test_a_file_that_becomes_a_secret_by_a_new_name_is_hidden_under_its_old_one(
    root: Path, guarded: GuardedNames
) -> None:
    """The folder of the old name has not changed, and would not be read again."""
    old = put(root / "still" / "notes.txt")
    (root / "app").mkdir()
    settled = time.time_ns() + 60 * 10**9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: settled)
        assert guarded.view().hidden_files == ()

        new = root / "app" / ".env"
        new.hardlink_to(old)
        assert set(guarded.view().hidden_files) == {str(new), str(old)}


def dig(root: Path, name: str, levels: int) -> None:
    """Folders in folders, deeper than any path is long, with a secret in each."""
    home = os.getcwd()
    os.chdir(root)
    try:
        for _ in range(levels):
            os.mkdir(name)
            os.chdir(name)
            Path("x.pem").write_text("hush")
    finally:
        os.chdir(home)


def test_what_lies_too_deep_to_be_named_is_hidden_with_its_folder(
    root: Path, guarded: GuardedNames
) -> None:
    dig(root, "d" * 200, 25)

    view = guarded.view()
    assert max(map(len, view.covered)) < 4_000
    [folder] = view.hidden_folders
    assert len(folder) > 3_500
    assert os.path.isdir(folder)


def test_what_lies_below_too_many_folders_is_hidden_with_them(
    root: Path, guarded: GuardedNames
) -> None:
    dig(root, "d", 300)

    view = guarded.view()
    assert view.hidden_folders == (str(root) + "/d" * 101,)
    assert len(view.hidden_files) == 100


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_cannot_be_looked_into_is_hidden_whole(
    root: Path, guarded: GuardedNames
) -> None:
    """Its owner could open it again from within a box."""
    put(root / "locked" / ".env")
    (root / "locked").chmod(0)
    try:
        assert guarded.view().hidden_folders == (str(root / "locked"),)
    finally:
        (root / "locked").chmod(0o700)


def test_a_workspace_that_cannot_be_looked_into_is_said(
    root: Path, guarded: GuardedNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(CommandExecutionError, match="searched for secrets: Permission"):
        guarded.view()


def test_our_own_home_is_hidden_whatever_it_is_called(
    root: Path, files: FileSystemExecutor
) -> None:
    put(root / "deep" / "home" / "token")
    guarded = GuardedNames(files.root, files.rules, files.second_names, [root / "deep" / "home"])

    assert guarded.view(GitAccess.CONTENT).hidden_folders == (str(root / "deep" / "home"),)


def test_our_own_home_is_hidden_where_the_system_lies_too(
    files: FileSystemExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There every box can look."""
    home, other = tmp_path / "system" / "home", tmp_path / "elsewhere"
    for folder in (home, other):
        folder.mkdir(parents=True)
    monkeypatch.setattr(bubblewrap, "_USER_PROGRAMS", str(tmp_path / "system"))
    private = [home, other, tmp_path / "system" / "nothing"]
    guarded = GuardedNames(files.root, files.rules, files.second_names, private)

    assert guarded.view().hidden_folders == (str(home),)


@pytest.mark.parametrize("name", [".git", ".handrail"])
def test_a_link_in_the_place_of_what_is_ours_is_loose(
    root: Path, guarded: GuardedNames, name: str
) -> None:
    (root / "real").mkdir()
    (root / name).symlink_to("real")

    assert guarded.view().loose == (str(root / name),)
    assert guarded.view(GitAccess.CONTENT).loose == (str(root / name),)


def test_what_may_not_be_written_is_frozen_for_git_too_unless_it_is_its_own(
    root: Path, files: FileSystemExecutor
) -> None:
    rule = PathRule("plans", Access.WRITE, "plans stay", re.compile("(^|/)plans(/|$)"))
    rules = replace(files.rules, paths=(*files.rules.paths, rule))
    put(root / "plans" / "x")
    put(root / ".git" / "HEAD")
    guarded = GuardedNames(files.root, rules, files.second_names)

    assert guarded.view(GitAccess.CONTENT).frozen == (str(root / "plans"),)


def make_store(folder: Path) -> Path:
    """The inside of a repository, whatever its name."""
    put(folder / "HEAD", "ref: refs/heads/main\n")
    for name in ("objects", "refs", "hooks"):
        (folder / name).mkdir()
    return put(folder / "config")


def test_a_repository_kept_under_another_name_is_covered_like_any(
    root: Path, guarded: GuardedNames
) -> None:
    config = make_store(root / "pub")
    part = put(root / "pub" / "modules" / "part" / "config")
    pointer = put(root / ".git", "gitdir: pub\n")

    for file in (config, part):
        file.write_text(PASSWORD)

    for git in GitAccess:
        view = guarded.view(git)
        assert str(root / "pub") in view.frozen
        assert {*view.copies} == {str(config), str(part)}
    assert str(pointer) in guarded.view().frozen


def test_a_file_that_comes_to_point_elsewhere_is_followed_anew(
    root: Path, guarded: GuardedNames
) -> None:
    config = put(root / "pub" / "config", PASSWORD)
    pointer = put(root / ".git", "gitdir: nowhere\n")
    age(root)
    age(root / "pub")
    assert guarded.view().copies == {}

    pointer.write_text("gitdir: pub\n")
    assert {*guarded.view().copies} == {str(config)}


def test_what_a_repository_shares_with_others_is_covered_too(
    root: Path, guarded: GuardedNames
) -> None:
    config = put(root / "shared" / "config", PASSWORD)
    put(root / ".git" / "commondir", "../shared\n")

    view = guarded.view()
    assert str(root / "shared") in view.frozen
    assert {*view.copies} == {str(config)}


def test_a_repository_without_a_workspace_is_covered_by_what_it_holds(
    root: Path, guarded: GuardedNames
) -> None:
    make_store(root / "lib" / "bare").write_text(PASSWORD)
    put(root / "lib" / "config", PASSWORD)

    view = guarded.view(GitAccess.CONTENT)
    assert view.frozen[0] == str(root / "lib" / "bare")
    assert {*view.copies} == {str(root / "lib" / "bare" / "config")}


def test_no_secret_becomes_gits_own_by_lying_in_its_folder(
    root: Path, guarded: GuardedNames
) -> None:
    make_store(root / "pub")
    secret = put(root / "pub" / ".env")
    put(root / ".git", "gitdir: pub\n")

    assert guarded.view(GitAccess.CONTENT).hidden_files == (str(secret),)


def test_a_workspace_that_is_the_inside_of_a_repository_is_refused(
    root: Path, guarded: GuardedNames
) -> None:
    make_store(root)

    with pytest.raises(
        CommandExecutionError, match=r"itself the inside of a git repository.* remove its HEAD"
    ):
        guarded.view()
