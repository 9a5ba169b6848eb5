"""A name means one program: the project's first, then a toolchain's, then the system's."""

from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, PathValidationError
from handrail.core.stage import Stage
from handrail.executors.processes.programs import SEARCH_PATH, ProgramFinder, path_for


def make_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    return made


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


@pytest.fixture
def finder(root: Path, tools: Path) -> ProgramFinder:
    return ProgramFinder(str(root), (str(tools / "bin"), *SEARCH_PATH), [str(tools)])


def test_a_toolchains_program_wins_over_the_systems(finder: ProgramFinder, tools: Path) -> None:
    assert finder.find("cat") in {f"{folder}/cat" for folder in SEARCH_PATH}
    mine = make_program(tools / "bin/cat")
    assert finder.find("cat") == str(mine)


@pytest.mark.parametrize("name", ["git", "bash", "sh"])
def test_what_boxes_are_made_for_is_always_the_systems(
    finder: ProgramFinder, tools: Path, name: str
) -> None:
    make_program(tools / "bin" / name)
    assert finder.find(name) in {f"{folder}/{name}" for folder in SEARCH_PATH}


def test_a_program_that_no_box_would_show_is_passed_over(
    finder: ProgramFinder, tools: Path, tmp_path: Path
) -> None:
    make_program(tools / "lib/real")
    (tools / "bin").mkdir()
    (tools / "bin/real").symlink_to("../lib/real")
    (tools / "bin/stray").symlink_to(make_program(tmp_path / "elsewhere/stray"))
    assert finder.find("real") == str(tools / "bin/real")
    with pytest.raises(CommandExecutionError, match="not installed"):
        finder.find("stray")


def test_a_toolchain_in_the_workspace_is_none(root: Path) -> None:
    make_program(root / "tools/bin/tool")
    finder = ProgramFinder(str(root), (str(root / "tools/bin"),), [str(root / "tools")])
    with pytest.raises(CommandExecutionError, match="not installed"):
        finder.find("tool")


# Virtual environments


def make_environment(root: Path, target: Path, name: str = "python") -> Path:
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text(f"home = {target.parent}\n")
    link = root / ".venv/bin" / name
    link.symlink_to(target)
    return link


def test_an_environments_python_goes_by_its_own_name(
    finder: ProgramFinder, root: Path, tools: Path
) -> None:
    link = make_environment(root, make_program(tools / "bin/python3.11"))
    (root / ".venv/bin/python3").symlink_to("python")
    assert finder.find(".venv/bin/python") == str(link)
    assert finder.find("./.venv/bin/python3") == str(link.with_name("python3"))
    assert finder.find("bin/python", ".venv") == str(link)


def test_so_does_one_made_from_the_systems(finder: ProgramFinder, root: Path) -> None:
    system = Path("/usr/bin/python3")
    if not system.exists():
        pytest.skip("the system has no Python")
    link = make_environment(root, system)
    assert finder.find(".venv/bin/python") == str(link)


@pytest.mark.parametrize("missing", ["toolchain", "environment", "name", "target"])
def test_no_other_link_leads_out(
    finder: ProgramFinder, root: Path, tools: Path, tmp_path: Path, missing: str
) -> None:
    place = tmp_path / "elsewhere" if missing == "toolchain" else tools / "bin"
    target = make_program(place / ("perl" if missing == "target" else "python3"))
    link = make_environment(root, target, "tool" if missing == "name" else "python")
    if missing == "environment":
        (root / ".venv/pyvenv.cfg").unlink()
    with pytest.raises(PathValidationError, match="leads out of the workspace"):
        finder.find(str(link.relative_to(root)))


def test_no_link_on_the_way_leads_out_either(
    finder: ProgramFinder, root: Path, tools: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    make_environment(elsewhere, make_program(tools / "bin/python3"))
    (root / "venv").symlink_to(elsewhere / ".venv")
    with pytest.raises(PathValidationError, match="leads out of the workspace"):
        finder.find("venv/bin/python")


# Programs of the workspace, by a bare name


@pytest.mark.parametrize("folder", [".venv/bin", "node_modules/.bin"])
def test_a_program_of_the_project_wins_where_it_may_run(
    finder: ProgramFinder, root: Path, tools: Path, folder: str
) -> None:
    for name in ("own-tool", "ls", "python3"):
        make_program(tools / "bin" / name)
        own = make_program(root / folder / name)
        assert finder.find_in_workspace(name) == f"{folder}/{name}"
        assert finder.find(name, in_workspace=True) == str(own)
        assert finder.find(name) == str(tools / "bin" / name)


@pytest.mark.parametrize("name", ["git", "bash", "sh"])
def test_what_gets_credentials_is_never_a_program_of_the_project(
    finder: ProgramFinder, root: Path, name: str
) -> None:
    make_program(root / ".venv/bin" / name)
    assert finder.find_in_workspace(name) is None
    assert finder.find(name, in_workspace=True) in {f"{place}/{name}" for place in SEARCH_PATH}


def test_an_environments_python_wins_over_the_one_it_was_made_from(
    finder: ProgramFinder, root: Path, tools: Path
) -> None:
    link = make_environment(root, make_program(tools / "bin/python3"))
    assert finder.find("python", in_workspace=True) == str(link)
    link.unlink()
    make_program(tools / "bin/python")
    assert finder.find("python", in_workspace=True) == str(tools / "bin/python")


def test_git_is_never_a_program_of_the_project_even_where_the_system_has_none(root: Path) -> None:
    make_program(root / "node_modules/.bin/git")
    with pytest.raises(CommandExecutionError, match="not installed"):
        ProgramFinder(str(root), ()).find("git", in_workspace=True)


def test_a_link_out_of_the_workspace_is_no_program_of_the_project(
    finder: ProgramFinder, root: Path, tmp_path: Path
) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/own-tool").symlink_to(make_program(tmp_path / "elsewhere/own-tool"))
    assert finder.find_in_workspace("own-tool") is None


@pytest.mark.parametrize(
    ("place", "folder", "told"),
    [
        (".venv/bin", ".", ".venv/bin/own-tool"),
        ("node_modules/.bin", "web", "../node_modules/.bin/own-tool"),
        ("services/api/.venv/bin", ".", "services/api/.venv/bin/own-tool"),
        ("web/node_modules/.bin", "web", "node_modules/.bin/own-tool"),
    ],
)
def test_a_missing_program_says_where_the_workspace_has_one(
    finder: ProgramFinder, root: Path, place: str, folder: str, told: str
) -> None:
    make_program(root / place / "own-tool")
    with pytest.raises(CommandExecutionError) as refusal:
        finder.find("own-tool", folder)
    words = "`own-tool` is not installed on this machine"
    assert refusal.value.message == f"{words}; there is one at {told}; call it by that path"
    with pytest.raises(CommandExecutionError) as refusal:
        finder.find("other-tool", folder)
    assert refusal.value.message == "`other-tool` is not installed on this machine"


SYSTEM = "/usr/bin:/bin"
OWN = "/ws/.venv/bin:/ws/node_modules/.bin"


@pytest.mark.parametrize(
    "stage",
    [
        Stage(("make",), Profile.WRITE),
        Stage(("/usr/bin/make",), Profile.WRITE),
        Stage(("npm", "test"), Profile.WRITE, programs=("npm",)),
    ],
)
def test_what_a_build_tool_starts_is_the_projects_first(stage: Stage) -> None:
    assert path_for(stage, "/ws", SYSTEM.split(":")) == f"{OWN}:{SYSTEM}"


def test_where_there_is_a_network_the_systems_programs_come_first() -> None:
    stage = Stage(("npm", "install"), Profile.NET, programs=("npm",))
    assert path_for(stage, "/ws", SYSTEM.split(":")) == f"{SYSTEM}:{OWN}"


@pytest.mark.parametrize(
    "stage",
    [
        Stage(("tar", "-tf", "a.tar.lz"), Profile.WRITE),
        Stage(("env", "pytest"), Profile.WRITE, programs=("env", "pytest")),
        Stage(("bash", "-c", "pytest"), Profile.WRITE),
        Stage(("cat",), Profile.READ),
        Stage(("git", "push"), Profile.NET, programs=("git",)),
        Stage(("timeout", "9", "git"), Profile.WRITE, programs=("timeout", "git")),
    ],
)
def test_no_other_program_finds_the_projects_programs(stage: Stage) -> None:
    assert path_for(stage, "/ws", SYSTEM.split(":")) == SYSTEM


def test_a_workspace_that_no_path_can_name_adds_nothing_to_it() -> None:
    assert path_for(Stage(("make",), Profile.WRITE), "/a:b", ["/bin"]) == "/bin"
