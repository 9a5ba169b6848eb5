"""`handrail folders`: which folders outside the workspace agents can read."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, ended_well, refused

OWN = '# mine\n[policy]\nautonomy = "full" # for now\n'


@pytest.fixture
def lib(shell: Shell) -> Path:
    made = shell.workspace.parent / "lib"
    made.mkdir()
    return made


def listed(shell: Shell) -> list[dict[str, object]]:
    return json.loads(ended_well(shell.run("folders", "--json")))["folders"]


def test_a_folder_is_added_listed_and_removed(shell: Shell, lib: Path) -> None:
    assert "Agents can read the workspace only" in ended_well(shell.run("folders"))

    assert f"can read {lib}." in ended_well(shell.run("folders", "add", "../lib"))
    assert "can read" in ended_well(shell.run("folders", "add", str(lib)))
    assert listed(shell) == [{"path": str(lib), "exists": True}]

    lib.rmdir()
    assert f"{lib}  (does not exist)" in ended_well(shell.run("folders"))
    assert "cannot read" in ended_well(shell.run("folders", "remove", "../lib"))
    assert listed(shell) == []


def test_it_counts_for_the_workspace_alone_and_leaves_the_rest_of_the_file(
    shell: Shell, lib: Path
) -> None:
    shell.home.mkdir(mode=0o700)
    policy = shell.home / "policy.toml"
    policy.write_text(OWN)

    ended_well(shell.run("folders", "add", "../lib"))
    other = shell.workspace.parent / "another"
    other.mkdir()

    assert policy.read_text().startswith(OWN)
    assert f"agents can read {lib} from {shell.workspace}" in ended_well(
        shell.run("policy", "show")
    )
    seen = ended_well(shell.run("folders", "--json", "--workspace", str(other)))
    assert json.loads(seen) == {"folders": []}
    ended_well(shell.run("folders", "remove", str(lib)))
    assert policy.read_text().strip() == OWN.strip()


def test_what_agents_must_not_read_is_refused_in_a_sentence(shell: Shell, lib: Path) -> None:
    (lib / "x").mkdir()

    assert "is not a folder" in refused(shell.run("folders", "add", "../missing"))
    assert "contains Handrail's own folder" in refused(shell.run("folders", "add", ".."))
    assert "overlaps the workspace" in refused(shell.run("folders", "add", "."))
    assert "contains your home folder" in refused(
        shell.run("folders", "add", "../lib", HOME=str(lib / "x"))
    )
    assert "was not added for this workspace" in refused(shell.run("folders", "remove", "../lib"))
    assert listed(shell) == []
