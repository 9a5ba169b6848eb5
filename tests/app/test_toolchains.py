"""A toolchain is let in by a person, once, and only for as long as it is sound."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.home import Credentials, Home
from handrail.app.settings import Settings
from handrail.app.toolchains import Answer, Toolchains
from handrail.core.errors import BadInput, SetupError


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one version manager, and a folder of tools that no manager has made."""
    home = tmp_path / "ada"
    for place in (".nvm/versions/node/v20.1.0/bin/node", "tools/bin/tool"):
        program = home / place
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho here\n")
        program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def toolchains(settings: Settings, workspace: Path, installed: Path) -> Toolchains:
    return Toolchains(Home(settings.home), workspace)


def answers(toolchains: Toolchains, installed: Path) -> dict[str, Answer]:
    return {
        entry.toolchain.path.removeprefix(f"{installed}/"): entry.answer
        for entry in toolchains.entries()
        if entry.toolchain.path.startswith(str(installed))
    }


NODE = ".nvm/versions/node"


def test_what_is_found_waits_for_an_answer_and_no_box_has_it(
    toolchains: Toolchains, installed: Path, settings: Settings
) -> None:
    assert answers(toolchains, installed) == {NODE: Answer.OPEN}
    assert toolchains.belt().toolchains == ()
    assert not settings.home.exists()


def test_what_was_allowed_every_box_has_and_nobody_else_can_read_the_answer(
    toolchains: Toolchains, installed: Path, settings: Settings
) -> None:
    toolchains.allow([str(installed / NODE), str(installed / "tools")])

    belt = toolchains.belt()
    assert [one.kind for one in belt.toolchains] == ["nvm", "folder"]
    assert belt.mounts == [str(installed / NODE), str(installed / "tools")]
    assert belt.search_path(["/bin"])[0] == str(installed / NODE / "v20.1.0/bin")
    file = settings.home / "toolchains.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(settings.home.iterdir()) == [settings.home / "credentials", file]


def test_a_version_that_comes_later_is_there_without_asking_again(
    toolchains: Toolchains, installed: Path
) -> None:
    toolchains.allow([str(installed / NODE)])
    newer = installed / NODE / "v22.0.0/bin/node"
    newer.parent.mkdir(parents=True)
    newer.write_text("")
    newer.chmod(0o755)
    assert toolchains.belt().search_path([])[0] == str(newer.parent)


def test_the_first_allowed_is_searched_first_unless_said_otherwise(
    toolchains: Toolchains, installed: Path
) -> None:
    node, tools = str(installed / NODE), str(installed / "tools")
    toolchains.allow([node])
    toolchains.allow([tools])
    assert toolchains.belt().mounts == [node, tools]
    toolchains.allow([tools], first=True)
    assert toolchains.belt().mounts == [tools, node]


def test_what_was_denied_is_gone_and_not_asked_about(
    toolchains: Toolchains, installed: Path
) -> None:
    toolchains.allow([str(installed / NODE)])
    toolchains.deny(["~/.nvm/versions/node/"])
    assert answers(toolchains, installed) == {NODE: Answer.DENIED}
    assert toolchains.belt().toolchains == ()


def test_what_became_unsound_is_left_out_and_said(toolchains: Toolchains, installed: Path) -> None:
    toolchains.allow([str(installed / NODE)])
    (installed / NODE).chmod(0o777)
    (entry,) = [one for one in toolchains.entries() if one.toolchain.kind == "nvm"]
    assert "other users can write" in (entry.trouble or "")
    assert toolchains.belt().toolchains == ()


def test_what_is_unsound_cannot_be_allowed_and_then_nothing_is(
    toolchains: Toolchains, installed: Path, workspace: Path, settings: Settings
) -> None:
    for place in (installed, workspace, settings.home, Path("/etc/ssl"), installed / "nothing"):
        with pytest.raises(BadInput, match="cannot be a toolchain"):
            toolchains.allow([str(installed / "tools"), str(place)])
    assert toolchains.belt().toolchains == ()


def test_no_other_workspace_may_lie_in_it(
    toolchains: Toolchains, installed: Path, settings: Settings, workspace: Path
) -> None:
    home = Home(settings.home)
    home.create()
    known = Credentials("http://127.0.0.1:1", "prj", str(workspace), "u", "c", "a")
    home.save_credentials(replace(known, workspace=str(installed / "tools/project")))
    with pytest.raises(BadInput, match="which agents can change"):
        Toolchains(home, workspace).allow([str(installed / "tools")])


@pytest.mark.parametrize(
    "words", ["", "[]", "{}", '{"toolchains": [1]}', '{"toolchains": [{"path": "/x"}]}']
)
def test_answers_that_cannot_be_understood_are_not_guessed(
    toolchains: Toolchains, settings: Settings, words: str
) -> None:
    settings.home.mkdir()
    (settings.home / "toolchains.json").write_text(words)
    with pytest.raises(SetupError, match="is damaged; remove it"):
        toolchains.belt()


def test_an_answer_that_nobody_gives_is_not_understood(
    toolchains: Toolchains, settings: Settings
) -> None:
    settings.home.mkdir()
    row = {"path": "/x", "kind": "nvm", "answer": "perhaps"}
    (settings.home / "toolchains.json").write_text(json.dumps({"toolchains": [row]}))
    with pytest.raises(SetupError, match="is damaged"):
        toolchains.entries()
