"""A stand-in for a remote, to which anything in a box can write."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.git.stand_in import Change, StandIn
from tests.executors.git.shell import PLAIN

ONE, TWO = "1" * 40, "2" * 40


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    refs = {"refs/heads/main": ONE, "refs/tags/v1": ONE}
    return StandIn.make(tmp_path / "a.git", refs, "refs/heads/main", "/nowhere")


def test_git_finds_the_refs_of_the_remote_in_it(stand_in: StandIn) -> None:
    words = ["git", "rev-parse", "refs/heads/main", "refs/tags/v1", "HEAD"]
    told = subprocess.run(
        words, cwd=stand_in.folder, env=PLAIN, capture_output=True, text=True, check=True
    )

    assert told.stdout.split() == [ONE, ONE, ONE]
    assert stand_in.changes() == []


def test_what_was_done_to_its_refs_is_told(stand_in: StandIn) -> None:
    write(stand_in, "refs/heads/main", TWO)
    write(stand_in, "refs/heads/new/topic", TWO)
    write(stand_in, "packed-refs", f"{ONE} refs/heads/main")

    assert stand_in.changes() == [
        Change("refs/heads/main", ONE, TWO),
        Change("refs/heads/new/topic", "", TWO),
        Change("refs/tags/v1", ONE, ""),
    ]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("refs/heads/main", "ref: refs/heads/other"),
        ("refs/heads/main", "-oProxyCommand=id"),
        ("refs/heads/a b", TWO),
        ("refs/heads/x:refs", TWO),
        ("refs/heads/+x", f"{TWO}{TWO}{TWO}{TWO}{TWO}"),
        ("refs/heads/x.lock", TWO),
        ("packed-refs", f"{TWO} --force"),
        ("packed-refs", f"{TWO} refs/heads/../../x"),
    ],
)
def test_what_git_would_not_leave_there_is_refused(
    stand_in: StandIn, path: str, content: str
) -> None:
    write(stand_in, path, content)

    with pytest.raises(CommandExecutionError):
        stand_in.changes()


@pytest.mark.parametrize("name", ["refs/heads/x", "packed-refs", "push-options"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_plain_files_are_read(stand_in: StandIn, tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / "secret").write_text(f"{TWO} refs/heads/x\n")
    path = stand_in.folder / name
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            path.symlink_to(tmp_path / "secret")
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()

    if kind == "folder" and name.startswith("refs/"):
        assert stand_in.changes() == []
        return
    with pytest.raises(CommandExecutionError, match="is no file of git's"):
        stand_in.push_options() if name == "push-options" else stand_in.changes()


def test_only_plain_files_are_packs(stand_in: StandIn, tmp_path: Path) -> None:
    packs = stand_in.folder / "objects/pack"
    (packs / "a.pack").write_bytes(b"PACK")
    (packs / "b.pack").symlink_to(tmp_path)
    (packs / "c.idx").write_bytes(b"")

    assert stand_in.packs() == [packs / "a.pack"]


def test_a_folder_of_refs_is_not_followed_out_of_it(stand_in: StandIn, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_text(TWO)
    (stand_in.folder / "refs/heads/out").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(CommandExecutionError, match="'out' is no file of git's"):
        stand_in.changes()


@pytest.mark.parametrize(
    ("path", "why"), [("/".join("a" * 60), "levels"), ("many", "would change 300 refs")]
)
def test_more_than_git_can_be_told_at_once_is_refused(
    stand_in: StandIn, path: str, why: str
) -> None:
    for number in range(300 if path == "many" else 1):
        write(stand_in, f"refs/heads/{path}/x{number}", TWO)

    with pytest.raises(CommandExecutionError, match=why):
        stand_in.changes()


@pytest.mark.parametrize("name", ["objects", "objects/pack", "refs"])
def test_a_link_in_the_place_of_a_folder_leads_to_no_other_repository(
    stand_in: StandIn, tmp_path: Path, name: str
) -> None:
    other = tmp_path / "other"
    (other / "pack").mkdir(parents=True)
    for path in (other / "x.pack", other / "pack" / "x.pack"):
        path.write_bytes(b"PACK")
    (stand_in.folder / name).rename(tmp_path / "away")
    (stand_in.folder / name).symlink_to(other)

    with pytest.raises(CommandExecutionError, match="is no folder of git's"):
        stand_in.changes() if name == "refs" else stand_in.packs()


def write(stand_in: StandIn, path: str, content: str) -> None:
    whole = stand_in.folder / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(f"{content}\n")
