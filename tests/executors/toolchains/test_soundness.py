"""No box gets too much of a machine, what others may change, or what secrets are kept in."""

import grp
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from handrail.executors.toolchains.soundness import Soundness
from handrail.executors.toolchains.toolchain import FOLDER, toolchain_at
from tests.executors.toolchains.conftest import Person


def why_not(
    path: Path | str,
    kind: str = FOLDER,
    *,
    private: Sequence[str] = (),
    workspaces: Sequence[str] = (),
) -> str | None:
    return Soundness(private, workspaces).why_not(toolchain_at(str(path), kind))


@pytest.fixture
def tools(person: Person) -> Path:
    """A sound one."""
    return person.install("opt/tools/bin", "tool").parent


def test_a_folder_of_ones_own_with_programs_is_sound(tools: Path) -> None:
    assert why_not(tools) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "covers too much"),
        ("/opt", "covers too much"),
        ("/etc/alternatives", "the system's own settings"),
        ("/proc/self", "the system's own settings"),
        ("/dev/shm", "the system's own settings"),
        ("/no/such/folder", "not a folder"),
    ],
)
def test_a_part_of_the_system_is_none(person: Person, path: str, why: str) -> None:
    assert why in (why_not(path) or "")


def test_a_home_is_none_nor_is_what_holds_it(person: Person) -> None:
    person.install("bin", "tool")
    assert "contains your home" in (why_not(person.home) or "")
    assert "contains your home" in (why_not(person.home.parent) or "")


def test_handrails_own_folder_and_the_workspace_stay_apart(tools: Path) -> None:
    for place in (tools, tools.parent, tools / "bin"):
        assert "Handrail's own folder" in (why_not(tools, private=[str(place)]) or "")
        assert "which agents can change" in (why_not(tools, workspaces=[str(place)]) or "")
    beside = str(tools.with_name("tools-2"))
    assert why_not(tools, private=[beside], workspaces=[beside]) is None


def test_a_link_makes_no_difference(person: Person, tools: Path) -> None:
    person.link("alias", "opt/tools")
    assert why_not(person.home / "alias") is None
    assert why_not(person.home / "alias", private=[str(tools / "secrets")]) is not None


@pytest.mark.parametrize(
    "path",
    [
        *(".ssh", ".aws/tools", ".gnupg", ".docker", ".config/tools", ".kube"),
        *(".mozilla/x", ".local/share/keyrings"),
    ],
)
def test_where_credentials_are_kept_is_none(person: Person, path: str) -> None:
    folder = person.install(f"{path}/bin", "tool").parent
    assert "credentials or personal settings" in (why_not(folder) or "")


@pytest.mark.parametrize(
    "name",
    [
        *(".netrc", "credentials.json", ".docker/config.json", "share/.aws/x", ".pypirc"),
        *(".git-credentials", "etc/.env"),
    ],
)
def test_a_folder_with_credentials_in_it_is_none(person: Person, tools: Path, name: str) -> None:
    person.note(f"opt/tools/{name}", "x")
    assert "may hold credentials" in (why_not(tools) or "")


def test_of_cargo_only_the_programs_are_shown(person: Person) -> None:
    person.note(".cargo/credentials.toml", 'token = "x"')
    person.install(".cargo/bin", "cargo-nextest")
    assert why_not(person.home / ".cargo/bin", "cargo") is None
    assert "credentials.toml" in (why_not(person.home / ".cargo") or "")


@pytest.mark.parametrize(
    ("name", "text", "is_secret"),
    [
        ("etc/npmrc", "//registry.example.org/:_authToken=x", True),
        ("etc/npmrc", "prefix=/opt\n", False),
        (".condarc", "channels: [conda-forge]\n", False),
        (".condarc", "channels: [https://conda.example.org/t/abc/x]\n", True),
        ("pip.conf", "[global]\nindex-url = https://me:pass@example.org/simple\n", True),
        ("pip.conf", "[global]\nindex-url = https://example.org/simple\n", False),
    ],
)
def test_settings_matter_by_what_they_say(
    person: Person, tools: Path, name: str, text: str, is_secret: bool
) -> None:
    person.note(f"opt/tools/{name}", text)
    assert (why_not(tools) is not None) == is_secret


def test_certificates_that_come_with_every_python_are_no_secrets(
    person: Person, tools: Path
) -> None:
    person.note("opt/tools/ssl/cacert.pem", "x")
    person.note("opt/tools/lib/python3.11/test/keycert.pem", "x")
    assert why_not(tools) is None


def test_a_folder_without_programs_is_none(person: Person) -> None:
    person.note("opt/papers/letter.txt", "x")
    assert "contains no programs" in (why_not(person.home / "opt/papers") or "")


@pytest.mark.parametrize("place", ["", "bin", ".."])
def test_what_others_may_write_is_none(tools: Path, place: str) -> None:
    (tools / place).chmod(0o777)
    assert "other users can write" in (why_not(tools) or "")
    (tools / place).chmod(0o755)
    assert why_not(tools) is None


def test_in_a_place_for_everybody_ones_own_folder_is_ones_own(person: Person, tools: Path) -> None:
    tools.parent.chmod(0o1777)
    assert why_not(tools) is None
    tools.chmod(0o1777)
    assert "other users can write" in (why_not(tools) or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_what_belongs_to_somebody_else_is_none(tools: Path) -> None:
    os.chown(tools, 12345, 12345)
    assert "belongs to another user" in (why_not(tools) or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to any group")
def test_what_a_group_of_several_may_write_is_none(tools: Path) -> None:
    shared = next(group for group in grp.getgrall() if group.gr_gid != 0)
    os.chown(tools, -1, shared.gr_gid)
    tools.chmod(0o775)
    assert "other users can write" in (why_not(tools) or "")
