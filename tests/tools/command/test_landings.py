"""A link in a folder leads what is put there elsewhere; it is judged as what it is there."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import PathValidationError, StaleCommandError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel, worst
from handrail.executors.command import CommandExecutor
from handrail.executors.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.tools.builtin.run_bash import RunBash, RunBashParams
from handrail.tools.command import contents

TOOL = RunBash()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    for folder in ("d", "s/in", "x/s", ".github/workflows", "deep/.hid"):
        (root / folder).mkdir(parents=True)
    for name in ("payload", "notes.txt", "s/in/a.txt", "Makefile", ".env", "d/beside"):
        (root / name).write_text("one\n")
    with zipfile.ZipFile(root / "a.zip", "w") as archive:
        archive.writestr("f/ci.yml", "x")
    return root


@pytest.fixture
def hands(workspace: Path) -> Iterator[Hands]:
    with FileSystemExecutor(workspace) as files:
        yield Hands(files=files, commands=CommandExecutor(workspace, grace_seconds=0.5))


async def risk_of(workspace: Path, hands: Hands, text: str) -> RiskLevel:
    scene, call = Scene(str(workspace)), RunBashParams(command=text)
    survey = await TOOL.survey(call, scene, hands)
    return worst([*TOOL.pre_validate(call, scene), *survey.findings])


@pytest.mark.parametrize(
    ("text", "link", "leads_to"),
    [
        ("cp payload d", "d/payload", "../Makefile"),
        ("cp -- ./payload d/", "d/payload", "../Makefile"),
        ("cp -t d payload notes.txt", "d/notes.txt", "../.github/workflows/new.yml"),
        ("cp --target-directory=d payload", "d/payload", "../Makefile"),
        ("cp --parents s/in/a.txt d", "d/s", "../.github/workflows"),
        ("cp -r s x", "x/s/in", "../../.github/workflows"),
        ("cp -r s/. x", "x/in", "../.github/workflows"),
        ("cp -rT s x", "x/in", "../.github/workflows"),
        ("cp payload d", "d/payload", "../.env"),
        ("unzip a.zip -d d", "d/f", "../.github/workflows"),
        ("unzip a.zip -d deep", "deep/.hid/f", "../../.github/workflows"),
        ("unzip a.zip", "f", ".github/workflows"),
        ("git format-patch -1 -o d", "d/0001-x.patch", "../Makefile"),
        ("git format-patch -1", "0001-x.patch", "Makefile"),
        ("git format-patch -1 -o d", "d/0001-x.patch", "../.git/refs/heads/x"),
    ],
)
async def test_what_lands_behind_a_link_is_judged_there(
    workspace: Path, hands: Hands, text: str, link: str, leads_to: str
) -> None:
    assert await risk_of(workspace, hands, text) is RiskLevel.MEDIUM

    (workspace / link).symlink_to(leads_to)

    assert await risk_of(workspace, hands, text) is RiskLevel.HIGH


@pytest.mark.parametrize(
    ("text", "link", "leads_to"),
    [
        ("cp payload d", "d/other", "../Makefile"),
        ("cp payload d", "d/payload", "../notes.txt"),
        ("unzip a.zip -d d", "d/f", "../s"),
        ("unzip a.zip -d d", "d/python", "/usr/bin/env"),
        ("mkdir -p d/new", "d/payload", "../Makefile"),
    ],
)
async def test_links_that_lead_to_nothing_special_or_aside_change_nothing(
    workspace: Path, hands: Hands, text: str, link: str, leads_to: str
) -> None:
    (workspace / link).symlink_to(leads_to)

    assert await risk_of(workspace, hands, text) is RiskLevel.MEDIUM


async def test_a_link_that_comes_later_is_not_followed(workspace: Path, hands: Hands) -> None:
    scene, call = Scene(str(workspace)), RunBashParams(command="cp payload d")
    survey = await TOOL.survey(call, scene, hands)
    (workspace / "d" / "payload").symlink_to("../Makefile")

    with pytest.raises(StaleCommandError, match="where links lead"):
        await TOOL.execute(call, scene, hands, survey.facts)
    with pytest.raises(PathValidationError, match="leads to 'Makefile'"):
        await TOOL.execute(call, scene, hands)
    assert (workspace / "Makefile").read_text() == "one\n"


@pytest.mark.parametrize(
    "text",
    [
        *("cp -r new/. .", "cp -rT new .", "cp -r new .", "cp -a new other", "mv new lib"),
        *("cp -r -S .bak new/. .", "cp -rt . new/.", "cp -r . new .", "nice cp -r new/. d"),
        *("cp -r s new d", "cd new && cp -r . ../d", "git mv new lib"),
    ],
)
@pytest.mark.parametrize(
    "name", ["Makefile", ".github/workflows/ci.yml", "in/.hid/.env", "a/b/conftest.py", "x.so"]
)
async def test_what_a_folder_brings_along_is_judged_name_by_name(
    workspace: Path, hands: Hands, text: str, name: str
) -> None:
    (workspace / "new").mkdir()
    (workspace / "new" / "notes.txt").write_text("two\n")
    if ". new" not in text and "-S" not in text:
        assert await risk_of(workspace, hands, text) is RiskLevel.MEDIUM

    (workspace / "new" / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / "new" / name).write_text("two\n")

    assert await risk_of(workspace, hands, text) is RiskLevel.HIGH


@pytest.mark.parametrize("text", ["cp notes.txt .", "cp -r s .", "cp -rv s/. .", "mv s/in ."])
async def test_what_lies_where_a_folder_is_put_does_not_count(
    workspace: Path, hands: Hands, text: str
) -> None:
    assert await risk_of(workspace, hands, text) is RiskLevel.MEDIUM


async def test_a_folder_of_more_than_can_be_judged_is_asked_about(
    workspace: Path, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_MOST_NAMES", 4)
    assert await risk_of(workspace, hands, "cp -rT s d") is RiskLevel.MEDIUM
    for number in range(4):
        (workspace / "s" / f"{number}.txt").write_text("x")
    assert await risk_of(workspace, hands, "cp -rT s d") is RiskLevel.HIGH


async def test_what_comes_into_a_folder_later_is_not_brought_along(
    workspace: Path, hands: Hands
) -> None:
    scene, call = Scene(str(workspace)), RunBashParams(command="cp -r s/. d")
    survey = await TOOL.survey(call, scene, hands)
    (workspace / "s" / "Makefile").write_text("two\n")

    with pytest.raises(PathValidationError, match="a build runs"):
        await TOOL.execute(call, scene, hands)
    with pytest.raises(StaleCommandError, match="what folders bring along"):
        await TOOL.execute(call, scene, hands, survey.facts)
    assert not (workspace / "d" / "Makefile").exists()


@pytest.mark.parametrize(
    "text",
    [
        *("cp -rt d new/.", "cp -rtd new/.", "cp -r --target-directory=d new/.", "mv -vt d new"),
        *("cp -r --target-directory d new", "cp -rpt d -- new/.", "cp -r --preserve=mode new/. d"),
        *("cp -r --parents new d", "cp -r --reflink=auto --remove-destination new/. d"),
    ],
)
async def test_no_reason_names_a_place_that_no_word_stands_for(
    workspace: Path, hands: Hands, text: str
) -> None:
    (workspace / "new").mkdir()
    (workspace / "new" / "Makefile").write_text("two\n")
    (workspace / ".git").mkdir()
    scene, call = Scene(str(workspace)), RunBashParams(command=text)

    reasons = [finding.reason for finding in (await TOOL.survey(call, scene, hands)).findings]

    assert reasons
    for reason in reasons:
        assert reason.startswith(("'d/Makefile'", "'d/new/Makefile'")), reason


@pytest.mark.parametrize(
    "text",
    [
        *("cd s && cp --parents .github/workflows/ci.yml ..", "cd s && cp -r --parents .github .."),
        *("cd s && cp -r --par .github/workflows ..", "cd s && cp --parents -t .. .github/a.yml"),
    ],
)
async def test_folders_in_front_of_a_name_that_are_taken_along_count(
    workspace: Path, hands: Hands, text: str
) -> None:
    (workspace / "s" / ".github" / "workflows").mkdir(parents=True)
    for name in ("a.yml", "workflows/ci.yml"):
        (workspace / "s" / ".github" / name).write_text("two\n")
    assert await risk_of(workspace, hands, text) is RiskLevel.HIGH
