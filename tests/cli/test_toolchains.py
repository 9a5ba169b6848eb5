"""`handrail toolchains`: for people and for programs."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, ended_well, refused


@pytest.fixture
def node(shell: Shell, tmp_path: Path) -> str:
    program = tmp_path / "ada/.nvm/versions/node/v20.1.0/bin/node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho v20.1.0\n")
    program.chmod(0o755)
    shell.environment["HOME"] = str(tmp_path / "ada")
    for name in ("PYENV_ROOT", "NVM_DIR", "RUSTUP_HOME", "CARGO_HOME", "HOMEBREW_PREFIX"):
        shell.environment.pop(name, None)
    return str(tmp_path / "ada/.nvm/versions/node")


def answer_to(shell: Shell, path: str) -> str | None:
    listed = json.loads(ended_well(shell.run("toolchains", "--json")))["toolchains"]
    return next((one["answer"] for one in listed if one["path"] == path), None)


@pytest.mark.behaviour("toolchains.confirmed")
def test_a_toolchain_is_listed_allowed_and_denied(shell: Shell, node: str) -> None:
    assert f"open    nvm   {node}  " in ended_well(shell.run("toolchains"))

    said = ended_well(shell.run("toolchains", "allow", "--all"))
    assert f"allowed  {node}" in said
    assert "Restart running clients" in said
    assert answer_to(shell, node) == "allowed"

    assert f"denied  {node}" in ended_well(shell.run("toolchains", "deny", node))
    assert answer_to(shell, node) == "denied"


def test_what_no_box_may_have_is_refused_in_a_sentence(shell: Shell, node: str) -> None:
    assert "covers too much of the machine" in refused(shell.run("toolchains", "allow", "/opt"))
    assert "which agents can change" in refused(
        shell.run("toolchains", "allow", str(shell.workspace))
    )
    assert "name a folder, or use --all" in refused(shell.run("toolchains", "allow"))
    assert answer_to(shell, node) == "open"
