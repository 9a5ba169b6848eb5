"""Boxes show the folders beside the workspace, to read, without what is guarded there."""

from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.outcome import CommandOutcome
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.folders import GuardedFolders
from handrail.executors.sandbox.box import Box, Programs
from handrail.policy.rulebook.book import Rulebook, operator_rules
from tests.executors.conftest import one


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    made = tmp_path / "lib"
    (made / "deep/.ssh").mkdir(parents=True)
    (made / "a.txt").write_text("from the lib\n")
    (made / ".env").write_text("SECRET=1\n")
    (made / "deep/.ssh/id_rsa").write_text("SECRET\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/b.txt").write_text("from elsewhere\n")
    (made / "way").symlink_to("../other/b.txt")
    return made


@pytest.fixture
def executor(
    root: Path, lib: Path, programs: Programs, isolation: Isolation, files: FileSystemExecutor
) -> CommandExecutor:
    files.adopt(Rulebook(operator_rules('[[folder]]\npath = "../lib"', "p")).rules_for(""))
    views = GuardedFolders(files.guarded, lambda: [one.guarded for one in files.beside.roots])
    return CommandExecutor(root, box=Box(programs, isolation, views))


async def run(executor: CommandExecutor, profile: Profile, *argv: str) -> CommandOutcome:
    return await executor.run(one(argv, profile), timeout_seconds=30)


@pytest.mark.parametrize("profile", [*Profile])
async def test_what_is_not_guarded_there_can_be_read_in_every_profile(
    executor: CommandExecutor, lib: Path, profile: Profile
) -> None:
    found = await run(executor, profile, "cat", "../lib/a.txt", "../lib/.env", str(lib / "a.txt"))
    hidden = await run(executor, profile, "cat", "../lib/deep/.ssh/id_rsa")
    outside = await run(executor, profile, "cat", "../lib/way", "../other/b.txt")

    assert found.stdout == b"from the lib\n" * 2
    assert (hidden.stdout, outside.stdout) == (b"", b"")


@pytest.mark.parametrize("profile", [*Profile])
@pytest.mark.parametrize(
    "argv",
    [
        ("touch", "../lib/new"),
        ("rm", "../lib/a.txt"),
        ("mv", "../lib", "../mine"),
        ("tee", "../lib/a.txt"),
        ("chmod", "777", "../lib/a.txt"),
    ],
)
async def test_nothing_can_be_changed_there_in_any_profile(
    executor: CommandExecutor, lib: Path, profile: Profile, argv: tuple[str, ...]
) -> None:
    before = (lib / "a.txt").stat()

    outcome = await run(executor, profile, *argv)

    assert outcome.exit_code != 0
    assert (lib / "a.txt").read_text() == "from the lib\n"
    assert (lib / "a.txt").stat().st_mode == before.st_mode
    assert not (lib / "new").exists()


async def test_what_becomes_guarded_there_is_hidden_from_the_next_command(
    executor: CommandExecutor, lib: Path
) -> None:
    (lib / "secret.pem").write_text("KEY\n")
    (lib / "way-to-it").symlink_to("secret.pem")

    found = await run(executor, Profile.READ, "cat", "../lib/secret.pem", "../lib/way-to-it")

    assert found.stdout == b""
