"""Folders beside the workspace: read under the same protection, and never changed."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.errors import FileOperationError, PathValidationError, ToolError
from handrail.core.files import FileState
from handrail.core.pattern import NamePattern
from handrail.core.search import Query
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.rulebook.rules import Rules

MOST = 1_000_000


def rules_with(text: str) -> Rules:
    return Rulebook(operator_rules(text, "policy.toml")).rules_for("")


def rows(*paths: str | Path) -> Rules:
    return rules_with("".join(f'[[folder]]\npath = "{path}"\n' for path in paths))


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    made = tmp_path / "lib"
    (made / "src").mkdir(parents=True)
    (made / "src/box.py").write_text("class Box: pass\n")
    (made / ".env").write_text("KEY=secret\n")
    (made / "README.md").write_text("# lib\n")
    return made


@pytest.fixture
def files(root: Path, lib: Path) -> Generator[FileSystemExecutor]:
    (root / "own.py").write_text("class Own: pass\n")
    with FileSystemExecutor(root, rows("../lib")) as made:
        yield made


async def text_of(files: FileSystemExecutor, path: str | Path) -> str:
    return (await files.read(str(path), max_bytes=MOST)).data.decode()


async def test_files_there_are_read_listed_and_searched(
    files: FileSystemExecutor, lib: Path
) -> None:
    with Ripgrep(files.root) as ripgrep:
        found = await SearchExecutor(files, ripgrep).search(Query("class"), str(lib), most=9)
    listed = await files.list(str(lib), NamePattern.read("*", recursive=True), most=9)

    assert await text_of(files, lib / "src/box.py") == "class Box: pass\n"
    assert [match.path for match in found.matches] == [f"{lib}/src/box.py"]
    assert [entry.path for entry in listed.entries] == [
        f"{lib}/README.md", f"{lib}/src", f"{lib}/src/box.py",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [".env", "way", "second"])
async def test_what_is_guarded_there_stays_hidden_under_whatever_name(
    files: FileSystemExecutor, lib: Path, name: str
) -> None:
    if name == "way":
        (lib / name).symlink_to(".env")
    if name == "second":
        os.link(lib / ".env", lib / name)

    with pytest.raises(PathValidationError):
        await text_of(files, lib / name)


@pytest.mark.parametrize("way", ["/etc/passwd", "../other/secret.txt", "../ws/own.py"])
async def test_no_link_leads_out_of_it(
    files: FileSystemExecutor, lib: Path, tmp_path: Path, way: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret.txt").write_text("no")
    (lib / "way").symlink_to(way)

    with pytest.raises(PathValidationError, match="leads out"):
        await text_of(files, lib / "way")


@pytest.mark.parametrize(
    "path", ["{lib}/../other/x", "{lib}2/x", "/etc/passwd", "{lib}/../ws/own.py"]
)
async def test_what_is_not_in_it_is_not_read(
    files: FileSystemExecutor, lib: Path, path: str
) -> None:
    with pytest.raises(ToolError):
        await text_of(files, path.format(lib=lib))


async def test_nothing_is_changed_there(files: FileSystemExecutor, lib: Path) -> None:
    there = str(lib / "README.md")
    state = (await files.read(there, max_bytes=MOST)).state

    for change in (
        files.write(there, b"x", expected=None),
        files.remove(there, expected=state),
        files.move(there, "mine.md", expected=state),
        files.move("own.py", f"{lib}/own.py", expected=FileState(exists=True)),
    ):
        with pytest.raises(ToolError):
            await change

    assert (lib / "README.md").read_text() == "# lib\n"
    assert sorted(os.listdir(lib)) == [".env", "README.md", "src"]


async def test_a_folder_that_was_taken_off_the_list_is_not_read_any_more(
    files: FileSystemExecutor, lib: Path
) -> None:
    files.adopt(rows())
    with pytest.raises(PathValidationError):
        await text_of(files, lib / "README.md")

    files.adopt(rows(lib))
    assert await text_of(files, lib / "README.md") == "# lib\n"


async def test_a_link_in_place_of_the_folder_is_not_followed(
    root: Path, lib: Path, tmp_path: Path
) -> None:
    (tmp_path / "way").symlink_to(lib)
    with FileSystemExecutor(root, rows("../way", "../missing")) as files:
        with pytest.raises(PathValidationError):
            await text_of(files, tmp_path / "way/README.md")
        with pytest.raises((PathValidationError, FileOperationError)):
            await text_of(files, tmp_path / "missing/README.md")


async def test_a_private_folder_in_it_is_read_by_no_tool(root: Path, lib: Path) -> None:
    (lib / "home").mkdir()
    (lib / "home/key").write_text("secret")
    with (
        FileSystemExecutor(root, rows("../lib"), private=[lib / "home"]) as files,
        pytest.raises(PathValidationError, match="may not see"),
    ):
        await text_of(files, lib / "home/key")
