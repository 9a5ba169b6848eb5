"""What was looked at is what runs: whatever has changed in between is named, and nothing runs."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, StaleCommandError
from handrail.core.sight import FileSort, Sight
from handrail.core.stage import Join, Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.commands.looking import CommandLooker
from handrail.executors.processes.programs import SEARCH_PATH, ProgramFinder
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.scripts import ScriptValidator

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "src").mkdir(parents=True)
    (made / "x.py").write_text("print('one')\n")
    (made / "src" / "y.py").write_text("print('y')\n")
    program(made / "run.sh", "echo ran")
    return made


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A folder of programs that may be replaced."""
    made = tmp_path / "bin"
    made.mkdir()
    return made


@pytest.fixture
def executor(root: Path, system: Path) -> CommandExecutor:
    return CommandExecutor(root, search_path=(str(system), *SEARCH_PATH), grace_seconds=0.5)


def program(path: Path, code: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)


def stages_of(root: Path, line: str) -> tuple[Stage, ...]:
    return ScriptValidator(str(root)).stages_of(line)


async def rerun(executor: CommandExecutor, line: str, change: Callable[[], object]) -> str:
    """What comes of a line that was looked at before a change."""
    stages = stages_of(Path(executor.root), line)
    facts = (await executor.look(stages)).facts
    change()
    try:
        outcome = await executor.run(stages, timeout_seconds=20, expected=facts)
    except StaleCommandError as error:
        return error.message
    return (outcome.stdout + outcome.stderr).decode()


def changed(name: str) -> str:
    return f"changed since the call was checked: {name}; nothing was done"


def nothing() -> None: ...


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("python3 x.py", "one\n"),
        ("./run.sh", "ran\n"),
        ("cd src && python3 y.py", "y\n"),
        ("cat *.py | wc -l", "1\n"),
        ("for i in 1 2; do python3 x.py; done", "one\none\n"),
    ],
)
async def test_what_has_not_changed_runs(executor: CommandExecutor, line: str, output: str) -> None:
    assert await rerun(executor, line, nothing) == output


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("python3 x.py", "x.py"),
        ("python3 -u ./x.py --verbose", "x.py"),
        ("nice python3 x.py", "x.py"),
        ("ls | python3 x.py", "x.py"),
        ("echo; python3 x.py", "x.py"),
        ("cd src && python3 y.py", "src/y.py"),
        ("python3 src/../x.py", "src/../x.py"),
        ('echo "$HOME"; python3 x.py', "x.py"),
        ("source x.py; echo $0", "x.py"),
    ],
)
async def test_a_script_that_has_changed_is_not_run(
    executor: CommandExecutor, root: Path, line: str, file: str
) -> None:
    def change() -> None:
        (root / file).write_text("print('two')\n")

    assert await rerun(executor, line, change) == changed(f"the file {file}")


async def test_a_script_changed_and_changed_back_is_what_it_was(
    executor: CommandExecutor, root: Path
) -> None:
    def change() -> None:
        (root / "x.py").write_text("print('two')\n")
        (root / "x.py").write_text("print('one')\n")

    assert await rerun(executor, "python3 x.py", change) == "one\n"


async def test_a_script_that_keeps_its_size_and_times_has_changed_all_the_same(
    executor: CommandExecutor, root: Path
) -> None:
    def change() -> None:
        before = (root / "x.py").stat()
        (root / "x.py").write_text("print('two')\n")
        os.utime(root / "x.py", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert await rerun(executor, "python3 x.py", change) == changed("the file x.py")


async def test_a_script_that_is_gone_or_has_come_is_named(
    executor: CommandExecutor, root: Path
) -> None:
    told = await rerun(executor, "python3 x.py", (root / "x.py").unlink)
    assert told == changed("the file x.py")
    told = await rerun(executor, "python3 x.py", lambda: (root / "x.py").write_text("1"))
    assert told == changed("the file x.py")


async def test_a_program_of_the_workspace_is_bound_by_its_content(
    executor: CommandExecutor, root: Path
) -> None:
    told = await rerun(executor, "./run.sh", lambda: program(root / "run.sh", "echo else"))
    assert told == changed("the program run.sh, the file run.sh")


async def test_a_program_of_the_system_that_was_replaced_is_not_run(
    executor: CommandExecutor, system: Path
) -> None:
    program(system / "pytest", "echo tested")

    def replace() -> None:
        program(system / "new", "echo else  ")
        (system / "new").rename(system / "pytest")

    assert await rerun(executor, "pytest", nothing) == "tested\n"
    assert await rerun(executor, "pytest", replace) == changed(f"the program {system}/pytest")


async def test_a_program_that_another_now_hides_is_not_run(
    executor: CommandExecutor, system: Path
) -> None:
    told = await rerun(executor, "python3 x.py", lambda: program(system / "python3", "echo hid"))
    assert f"the program {system}/python3" in told


async def test_a_link_to_a_program_that_leads_elsewhere_is_not_followed(
    executor: CommandExecutor, system: Path
) -> None:
    for name in ("first", "second"):
        program(system / name, f"echo {name}")
    link = system / "pytest"
    link.symlink_to("first")

    def retarget() -> None:
        link.unlink()
        link.symlink_to("second")

    assert await rerun(executor, "pytest", nothing) == "first\n"
    assert await rerun(executor, "pytest", retarget) == changed(f"the program {link}")


async def test_a_script_that_is_a_link_is_bound_to_where_it_leads(
    executor: CommandExecutor, root: Path
) -> None:
    """Also where the content is the same: beside it lies what it loads."""
    (root / "other").mkdir()
    shutil.copy(root / "x.py", root / "other" / "x.py")
    link = root / "link.py"
    link.symlink_to("x.py")

    def retarget() -> None:
        link.unlink()
        link.symlink_to("other/x.py")

    assert await rerun(executor, "python3 link.py", nothing) == "one\n"
    assert await rerun(executor, "python3 link.py", retarget) == changed("the file link.py")


async def test_a_folder_that_has_become_another_is_not_entered(
    executor: CommandExecutor, root: Path
) -> None:
    def exchange() -> None:
        (root / "src").rename(root / "old")
        shutil.copytree(root / "old", root / "src")

    assert await rerun(executor, "cd src && ls", exchange) == changed("the folder src")


async def test_a_pattern_that_stands_for_more_files_than_before_is_not_expanded(
    executor: CommandExecutor, root: Path
) -> None:
    told = await rerun(executor, "tee *.py", lambda: (root / "a.py").touch())
    assert told == changed("the commands that run, the file a.py")
    told = await rerun(executor, "wc -l *.py | tee x; cat *.py", lambda: (root / "b.py").touch())
    assert told == changed("the commands that run, the file b.py")


async def test_scripts_that_a_pattern_stands_for_are_bound(
    executor: CommandExecutor, root: Path
) -> None:
    told = await rerun(
        executor, "python3 src/*.py", lambda: (root / "src" / "y.py").write_text("1")
    )
    assert told == changed("the file src/y.py")


async def test_what_an_earlier_step_makes_is_what_a_later_one_finds(
    executor: CommandExecutor, root: Path
) -> None:
    """What follows works with what was made before it; that is what was approved."""
    (root / "x.py").write_text("open('made.txt', 'w').write('made\\n')")
    (root / "old.txt").write_text("old\n")
    assert await rerun(executor, "python3 x.py && cat *.txt", nothing) == "made\nold\n"


@needs_make
@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("make", "Makefile"),
        ("make", "GNUmakefile"),
    ],
)
async def test_a_makefile_that_has_changed_or_come_is_not_obeyed(
    executor: CommandExecutor, root: Path, line: str, file: str
) -> None:
    (root / "Makefile").write_text("all:\n\t@echo made\n")
    assert "made" in await rerun(executor, line, nothing)
    told = await rerun(executor, line, lambda: (root / file).write_text("all:\n\t@echo else\n"))
    assert told == changed(f"the file {file}")


@pytest.mark.parametrize("line", ["sed -n -f x.py run.sh", "xargs -a x.py echo"])
async def test_a_file_that_the_words_name_is_bound_where_more_is_done_than_read(
    executor: CommandExecutor, root: Path, line: str
) -> None:
    told = await rerun(executor, line, lambda: (root / "x.py").write_text("p\n"))
    assert told == changed("the file x.py")


def test_scripts_of_a_package_are_bound_by_what_lists_them(root: Path) -> None:
    stage = CommandValidator(str(root)).stage_of("npm", ["run", "build"])
    assert stage.obeys == ("package.json",)


async def test_another_environment_is_another_call(root: Path, system: Path) -> None:
    stages = stages_of(root, "./run.sh")
    one = CommandExecutor(root)
    other = CommandExecutor(root, search_path=(*SEARCH_PATH, str(system)))
    facts = (await one.look(stages)).facts
    assert "PATH" in facts["the environment of commands"]["names"]
    with pytest.raises(StaleCommandError, match="the environment of commands"):
        await other.run(stages, timeout_seconds=10, expected=facts)


async def test_looking_changes_nothing_and_says_the_same_again(
    executor: CommandExecutor, root: Path
) -> None:
    stages = stages_of(root, "./run.sh && touch made && python3 x.py *.txt")
    before = sorted(root.rglob("*"))
    assert (await executor.look(stages)).facts == (await executor.look(stages)).facts
    assert sorted(root.rglob("*")) == before


def look(root: Path, *paths: str, most_bytes: int = 100) -> dict[str, FileSort]:
    looker = CommandLooker(str(root), ProgramFinder(str(root)), {}, most_bytes)
    sight: Sight = looker.look([Stage(("true",), Profile.WRITE, Join.FIRST, obeys=paths)])
    return {file.path: file.sort for file in sight.steps[0].files}


def test_what_cannot_be_read_first_is_said_to_be_so(root: Path) -> None:
    (root / "large").write_bytes(b"x" * 101)
    (root / "out").symlink_to("/etc/hostname")
    os.mkfifo(root / "pipe")
    found = look(root, "large", "src", "out", "pipe", "nothing", "x.py/y", "x.py")
    assert found == {
        "large": FileSort.LARGE,
        "src": FileSort.FOLDER,
        "out": FileSort.UNREAD,
        "pipe": FileSort.UNREAD,
        "nothing": FileSort.ABSENT,
        "x.py/y": FileSort.ABSENT,
        "x.py": FileSort.FILE,
    }


def test_together_no_more_is_read_than_there_is_time_for(root: Path) -> None:
    for name in ("a", "b"):
        (root / name).write_bytes(b"x" * 60)
    assert look(root, "a", "b", "a") == {"a": FileSort.FILE, "b": FileSort.LARGE}


async def test_a_program_that_is_not_here_is_refused_before_anybody_is_asked(
    executor: CommandExecutor, root: Path
) -> None:
    with pytest.raises(CommandExecutionError, match="`ruff` is not installed on this machine"):
        await executor.look(stages_of(root, "ruff check"))


async def test_a_word_that_names_no_file_is_bound_to_nothing(root: Path) -> None:
    looker = CommandLooker(str(root), ProgramFinder(str(root)), {})
    named = ("x.py", "left-pad", "src", ".", "x" * 300)
    sight = looker.look([Stage(("true",), Profile.WRITE, named=named)])
    assert [file.path for file in sight.steps[0].files] == ["x.py", "src"]


async def test_a_line_that_only_reads_is_bound_to_no_file(root: Path) -> None:
    looker = CommandLooker(str(root), ProgramFinder(str(root)), {})
    sight = looker.look([Stage(("cat", "*.py"), Profile.READ, patterns=(1,), named=("x.py",))])
    assert (sight.steps[0].files, sight.steps[0].argv) == ((), ("cat", "./x.py"))


async def test_names_that_look_alike_are_bound_apart(executor: CommandExecutor, root: Path) -> None:
    names = ["a\t.py", "a\\x09.py"]
    for name in names:
        (root / name).write_text(f"print({name!r})\n")
    stage = Stage(("python3", names[0]), Profile.WRITE, obeys=tuple(names))

    for name in names:
        before = (await executor.look((stage,))).facts
        (root / name).write_text("print('other')\n")
        assert (await executor.look((stage,))).facts != before
