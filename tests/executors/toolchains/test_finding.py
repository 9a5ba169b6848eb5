"""Found is what is really there, and of several versions the person's own choice comes first."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.executors.toolchains.finding import find_toolchains
from handrail.executors.toolchains.toolchain import FOLDER, Toolbelt, Toolchain, toolchain_at
from tests.executors.toolchains.conftest import Person


def found(person: Person, workspace: Path, **environment: str) -> dict[str, list[str]]:
    """By kind, the folders with programs, as they lie in the home."""
    toolchains = find_toolchains(environment, str(workspace))
    # What the machine of the test has for everybody is not the subject here.
    own = [one for one in toolchains if one.path.startswith(str(person.home.parent))]
    return {
        one.kind: [str(Path(folder).relative_to(person.home)) for folder in one.folders]
        for one in own
    }


def test_who_has_installed_nothing_has_no_toolchains(person: Person, workspace: Path) -> None:
    person.install("bin", "python3")
    person.install(".pyenv/versions")
    person.install(".nvm/versions/node/v20.1.0/lib")
    assert found(person, workspace) == {}


def pyenv(person: Person) -> None:
    for version in ("3.9.18", "3.11.7", "3.10.13"):
        person.install(f".pyenv/versions/{version}/bin", "python3")
    person.link(".pyenv/versions/3.11", ".pyenv/versions/3.11.7")
    person.install(".pyenv/shims", "python3")
    person.note(".pyenv/version", "3.9.18\n")


def nvm(person: Person) -> None:
    for version in ("v18.19.0", "v20.9.0", "v20.11.1", "v22.1.0"):
        person.install(f".nvm/versions/node/{version}/bin", "node")
    person.note(".nvm/alias/default", "lts/*\n")
    person.note(".nvm/alias/lts/*", "lts/iron\n")
    person.note(".nvm/alias/lts/iron", "v20\n")


def fnm(person: Person) -> None:
    for version in ("v18.1.0", "v20.1.0"):
        person.install(f".local/share/fnm/node-versions/{version}/installation/bin", "node")
    person.link(
        ".local/share/fnm/aliases/default",
        ".local/share/fnm/node-versions/v18.1.0/installation",
    )


def volta(person: Person) -> None:
    for place in ("node/18.1.0", "node/20.1.0", "yarn/1.22.1"):
        person.install(f".volta/tools/image/{place}/bin", "program")
    noted = '{"node": {"runtime": "18.1.0", "npm": null}, "yarn": "1.22.1"}'
    person.note(".volta/tools/user/platform.json", noted)


def rustup(person: Person) -> None:
    for name in ("nightly-2026-01-01-x86_64", "stable-x86_64"):
        person.install(f".rustup/toolchains/{name}/bin", "cargo")
    person.note(".rustup/settings.toml", 'default_toolchain = "stable"\n')
    person.install(".cargo/bin", "cargo")
    person.note(".cargo/credentials.toml", "token")


def asdf(person: Person) -> None:
    for place in ("python/3.11.7", "python/3.12.0", "nodejs/20.1.0"):
        person.install(f".asdf/installs/{place}/bin", "program")
    person.note(".tool-versions", "# mine\npython 3.11.7  # for now\n\n")


def mise(person: Person) -> None:
    for version in ("20.1.0", "22.0.0"):
        person.install(f".local/share/mise/installs/node/{version}/bin", "node")
    person.link(".local/share/mise/installs/node/latest", ".local/share/mise/installs/node/20.1.0")


def uv(person: Person) -> None:
    for version in ("3.9.18", "3.12.1"):
        name = f"cpython-{version}-linux-x86_64-gnu"
        person.install(f".local/share/uv/python/{name}/bin", "python3")


def conda(person: Person) -> None:
    person.install("miniforge3/bin", "python3")


def go(person: Person) -> None:
    person.install("sdk/go1.9.1/bin", "go")
    person.install("sdk/go1.22.3/bin", "go")


def sdkman(person: Person) -> None:
    for version in ("17.0.1-tem", "21.0.1-tem"):
        person.install(f".sdkman/candidates/java/{version}/bin", "java")
    person.link(".sdkman/candidates/java/current", ".sdkman/candidates/java/17.0.1-tem")


def homebrew(person: Person) -> None:
    person.install(".linuxbrew/bin", "gh")


@pytest.mark.parametrize(
    ("install", "expected"),
    [
        (pyenv, {"pyenv": [f".pyenv/versions/{v}/bin" for v in ("3.9.18", "3.11.7", "3.10.13")]}),
        (
            nvm,
            {
                "nvm": [
                    f".nvm/versions/node/{version}/bin"
                    for version in ("v20.11.1", "v22.1.0", "v20.9.0", "v18.19.0")
                ]
            },
        ),
        (
            fnm,
            {
                "fnm": [
                    f".local/share/fnm/node-versions/{version}/installation/bin"
                    for version in ("v18.1.0", "v20.1.0")
                ]
            },
        ),
        (
            volta,
            {
                "volta": [
                    f".volta/tools/image/{place}/bin"
                    for place in ("node/18.1.0", "yarn/1.22.1", "node/20.1.0")
                ]
            },
        ),
        (
            rustup,
            {
                "rustup": [
                    ".rustup/toolchains/stable-x86_64/bin",
                    ".rustup/toolchains/nightly-2026-01-01-x86_64/bin",
                ],
                "cargo": [".cargo/bin"],
            },
        ),
        (
            asdf,
            {
                "asdf": [
                    f".asdf/installs/{place}/bin"
                    for place in ("python/3.11.7", "nodejs/20.1.0", "python/3.12.0")
                ]
            },
        ),
        (
            mise,
            {
                "mise": [
                    f".local/share/mise/installs/node/{version}/bin"
                    for version in ("20.1.0", "22.0.0")
                ]
            },
        ),
        (
            uv,
            {
                "uv": [
                    f".local/share/uv/python/cpython-{version}-linux-x86_64-gnu/bin"
                    for version in ("3.12.1", "3.9.18")
                ]
            },
        ),
        (conda, {"conda": ["miniforge3/bin"]}),
        (go, {"go-sdk": ["sdk/go1.22.3/bin", "sdk/go1.9.1/bin"]}),
        (
            sdkman,
            {
                "sdkman": [
                    f".sdkman/candidates/java/{version}/bin"
                    for version in ("17.0.1-tem", "21.0.1-tem")
                ]
            },
        ),
        (homebrew, {"homebrew": [".linuxbrew/bin"]}),
    ],
)
def test_a_version_manager_is_found_with_its_default_first(
    person: Person,
    workspace: Path,
    install: Callable[[Person], None],
    expected: dict[str, list[str]],
) -> None:
    install(person)
    assert found(person, workspace) == expected


def test_what_is_noted_in_no_known_way_makes_no_difference(person: Person, workspace: Path) -> None:
    rustup(person)
    volta(person)
    nvm(person)
    person.note(".rustup/settings.toml", "default_toolchain = [1")
    person.note(".volta/tools/user/platform.json", '["node"]')
    person.note(".nvm/alias/default", "../../../../etc/passwd")
    known = found(person, workspace)
    assert known["nvm"][0] == ".nvm/versions/node/v22.1.0/bin"
    assert len(known["rustup"]) == 2
    assert len(known["volta"]) == 3


def test_a_variable_says_where_a_manager_has_moved(person: Person, workspace: Path) -> None:
    person.install("elsewhere/versions/3.12.1/bin", "python3")
    assert found(person, workspace) == {}
    moved = str(person.home / "elsewhere")
    assert found(person, workspace, PYENV_ROOT=moved) == {
        "pyenv": ["elsewhere/versions/3.12.1/bin"]
    }
    assert found(person, workspace, PYENV_ROOT="elsewhere") == {}


def test_of_homebrew_boxes_see_no_settings_and_no_data(person: Person) -> None:
    homebrew(person)
    person.note(".linuxbrew/etc/my.cnf", "password")
    person.note(".linuxbrew/var/data", "x")
    (person.home / ".linuxbrew/Cellar").mkdir()
    toolchain = toolchain_at(str(person.home / ".linuxbrew"), "homebrew")
    assert {Path(mount).name for mount in toolchain.mounts} == {"bin", "Cellar"}


# The Python that a virtual environment was made from


def make_environment(workspace: Path, home: str, name: str = ".venv") -> None:
    (workspace / name).mkdir()
    (workspace / name / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.7\n")


def make_python(person: Person, path: str) -> str:
    person.note(f"{path}/lib/python3.11/os.py", "")
    return str(person.install(f"{path}/bin", "python3", "python3.11"))


def test_the_python_of_the_workspaces_environment_is_found(person: Person, workspace: Path) -> None:
    make_environment(workspace, make_python(person, "opt/py"))
    assert found(person, workspace) == {FOLDER: ["opt/py/bin"]}


def test_it_is_not_found_twice(person: Person, workspace: Path) -> None:
    make_environment(workspace, make_python(person, ".pyenv/versions/3.11.7"), "venv")
    assert found(person, workspace) == {"pyenv": [".pyenv/versions/3.11.7/bin"]}


def test_a_workspace_cannot_pass_any_folder_off_as_a_python(
    person: Person, workspace: Path
) -> None:
    person.install("letters/bin", "python3.11")
    for place in ("letters/bin", "letters", ".ssh"):
        make_environment(workspace, str(person.home / place), ".venv")
        assert found(person, workspace) == {}
        (workspace / ".venv/pyvenv.cfg").unlink()
        (workspace / ".venv").rmdir()


def test_the_systems_python_needs_no_toolchain(person: Person, workspace: Path) -> None:
    make_environment(workspace, "/usr/bin")
    assert found(person, workspace) == {}


def test_an_environment_that_cannot_be_read_is_none(person: Person, workspace: Path) -> None:
    (workspace / ".venv").mkdir()
    (workspace / ".venv/pyvenv.cfg").write_bytes(b"home = \xff\xfe\n")
    (workspace / "venv").mkdir()
    (workspace / "venv/pyvenv.cfg").mkdir()
    assert found(person, workspace) == {}


# A toolchain by itself


def test_a_folder_has_its_programs_in_its_bin_or_else_in_itself(person: Person) -> None:
    with_bin = person.install("opt/one/bin", "tool").parent
    without = person.install("opt/two", "tool")
    (with_bin / "tool").write_text("")
    assert toolchain_at(str(with_bin), FOLDER).folders == (str(with_bin / "bin"),)
    assert toolchain_at(str(without), FOLDER).folders == (str(without),)


def test_a_folder_behind_a_link_is_shown_by_both_its_names(person: Person) -> None:
    true_place = person.install("disk/tools/bin", "tool").parent
    person.link("tools", "disk/tools")
    named = str(person.home / "tools")
    assert toolchain_at(named, FOLDER).mounts == (str(true_place), named)


def test_what_the_system_has_anyway_is_not_shown_again() -> None:
    assert toolchain_at("/usr", FOLDER).mounts == ()


def test_programs_of_toolchains_come_before_the_systems() -> None:
    first = Toolchain("nvm", "/a", ("/a",), ("/a/2/bin", "/a/1/bin"))
    second = Toolchain("uv", "/b", ("/b", "/a"), ("/b/bin", "/usr/bin"))
    belt = Toolbelt((first, second))
    assert belt.search_path(["/usr/bin", "/bin"]) == [
        *("/a/2/bin", "/a/1/bin", "/b/bin", "/usr/bin", "/bin")
    ]
    assert belt.mounts == ["/a", "/b"]


def test_the_python_of_these_tests_would_be_found(tmp_path: Path) -> None:
    prefix = Path(sys.base_prefix).resolve()
    make_environment(tmp_path, str(prefix / "bin"))
    toolchains = find_toolchains({}, str(tmp_path))
    assert prefix.is_relative_to("/usr") or any(
        prefix.is_relative_to(one.path) for one in toolchains
    )
