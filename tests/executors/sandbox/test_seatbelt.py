"""The text for macOS says what the boxes of Linux do; whether a Mac agrees nobody has tried."""

import re

import pytest

from handrail.core.box import Profile
from handrail.executors.sandbox.bubblewrap import View
from handrail.executors.sandbox.seatbelt import profile_text

READ, WRITE, NET = Profile.READ, Profile.WRITE, Profile.NET
WS, HOME = "/Users/ada/project", "/private/tmp/handrail-1"
VIEW = View(
    WS,
    hidden_files=(f"{WS}/conf/.env",),
    hidden_folders=(f"{WS}/.ssh",),
    frozen=(f"{WS}/.git",),
    missing=(f"{WS}/.handrail",),
)


def verdict(text: str, action: str, path: str) -> str:
    """What the last rule that fits says, as macOS is documented to decide."""
    decision = "deny"
    for line in text.splitlines():
        match = re.fullmatch(r"\((allow|deny) ([^()]+?) ?((?:\(\w+ \".*\"\) ?)*)\)", line)
        if match is None or not _fits(match[2].split(), action):
            continue
        places = re.findall(r"\((\w+) \"((?:[^\"\\]|\\.)*)\"\)", match[3])
        if not places or any(_covers(kind, place, path) for kind, place in places):
            decision = match[1]
    return decision


def _fits(actions: list[str], action: str) -> bool:
    return any(
        action == one or (one.endswith("*") and action.startswith(one[:-1])) for one in actions
    )


def _covers(kind: str, place: str, path: str) -> bool:
    return path == place or (kind == "subpath" and path.startswith(f"{place}/"))


READING, WRITING = "file-read-data", "file-write-data"


@pytest.mark.parametrize("profile", [READ, WRITE])
def test_everything_is_refused_that_is_not_named(profile: Profile) -> None:
    text = profile_text(profile, VIEW, HOME)
    assert text.startswith("(version 1)\n(deny default)\n")
    for path in ("/Users/ada/.ssh/id_rsa", "/Users/ada/project-2/a", "/etc/sudoers", "/"):
        assert verdict(text, READING, path) == verdict(text, WRITING, path) == "deny"
    assert text.endswith("(deny network*)\n")
    assert "allow network" not in text


def test_who_reads_reads_the_workspace_and_writes_and_starts_nothing() -> None:
    text = profile_text(READ, VIEW, HOME)
    assert verdict(text, READING, f"{WS}/src/main.py") == "allow"
    for path in (f"{WS}/src/main.py", HOME):
        assert verdict(text, WRITING, path) == "deny"
    assert "process-fork" not in text
    assert "file-write*" not in text.replace("deny file-read* file-write*", "")
    assert verdict(text, "process-exec", f"{WS}/run.sh") == "deny"


def test_who_writes_writes_the_workspace_without_what_is_git_s_and_handrails() -> None:
    text = profile_text(WRITE, VIEW, HOME)
    for path in (f"{WS}/src/main.py", f"{HOME}/cache"):
        assert verdict(text, WRITING, path) == "allow"
    for path in (f"{WS}/.git", f"{WS}/.git/config", f"{WS}/.handrail", f"{WS}/.handrail/x"):
        assert verdict(text, WRITING, path) == "deny"
    assert verdict(text, READING, f"{WS}/.git/HEAD") == "allow"
    assert "(allow process-fork)" in text
    assert verdict(text, "process-exec", f"{WS}/run.sh") == "allow"


@pytest.mark.parametrize("profile", [READ, WRITE])
def test_what_is_hidden_is_neither_read_nor_written(profile: Profile) -> None:
    text = profile_text(profile, VIEW, HOME)
    for path in (f"{WS}/conf/.env", f"{WS}/.ssh", f"{WS}/.ssh/id_rsa"):
        assert verdict(text, READING, path) == verdict(text, WRITING, path) == "deny"
    assert verdict(text, READING, f"{WS}/conf/.env.example") == "allow"


def test_folders_on_the_way_to_what_is_hidden_stay_where_they_are() -> None:
    text = profile_text(WRITE, VIEW, HOME)
    for path in (WS, f"{WS}/conf"):
        assert verdict(text, "file-write-unlink", path) == "deny"
    assert verdict(text, "file-write-unlink", f"{WS}/src") == "allow"


def test_toolchains_are_run_and_not_written() -> None:
    text = profile_text(WRITE, VIEW, HOME, ["/opt/homebrew/bin"])
    assert verdict(text, "process-exec", "/opt/homebrew/bin/node") == "allow"
    assert verdict(text, WRITING, "/opt/homebrew/bin/node") == "deny"


def test_where_nothing_is_hidden_no_rule_is_left_without_a_place() -> None:
    text = profile_text(WRITE, View(WS), HOME)
    assert not re.search(r"\(deny file[^()]*\)", text)
    assert verdict(text, READING, f"{WS}/a") == "allow"


def test_no_name_can_end_its_quotes() -> None:
    odd = '/Users/ada/a") (allow default) ("b\\'
    text = profile_text(READ, View(odd), HOME)
    assert '(subpath "/Users/ada/a\\") (allow default) (\\"b\\\\")' in text


@pytest.mark.parametrize("path", ["relative", "", "/a\nb", "/a\0b"])
def test_what_no_text_can_hold_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in a profile"):
        profile_text(READ, View(path), HOME)
