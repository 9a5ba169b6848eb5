"""What comes out of an archive is judged name by name before it is unpacked."""

import os
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
from handrail.tools.command import archives

TOOL = RunBash()
EVIL = ["Makefile", ".github/workflows/ci.yml", "a/b/conftest.py", ".vscode/tasks.json", ".env"]
EVERY_WAY = [
    *("unzip a.zip", "unzip -q a.zip", "unzip -n a.zip -d d", "unzip -qnd d a.zip", "unzip a"),
    *(
        "unzip a.zip 'docs/*' -x '*.txt'",
        "unzip -j a.zip",
        "nice unzip a.zip",
        "cd d && unzip ../a",
    ),
    *("python3 -m zipfile -e a.zip d", "python3 -m zipfile --extract a.zip ."),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "d").mkdir(parents=True)
    pack(root, "docs/a.md", "docs/deep/b.txt")
    return root


def pack(root: Path, *names: str) -> None:
    with zipfile.ZipFile(root / "a.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "x")


@pytest.fixture
def hands(workspace: Path) -> Iterator[Hands]:
    with FileSystemExecutor(workspace) as files:
        yield Hands(files=files, commands=CommandExecutor(workspace, grace_seconds=0.5))


async def risk_of(workspace: Path, hands: Hands, text: str) -> RiskLevel:
    scene, call = Scene(str(workspace)), RunBashParams(command=text)
    survey = await TOOL.survey(call, scene, hands)
    return worst([*TOOL.pre_validate(call, scene), *survey.findings])


@pytest.mark.parametrize("text", EVERY_WAY)
async def test_what_an_archive_brings_along_is_judged_name_by_name(
    workspace: Path, hands: Hands, text: str
) -> None:
    assert await risk_of(workspace, hands, text) is RiskLevel.MEDIUM
    for name in EVIL:
        pack(workspace, "docs/a.md", name)
        assert await risk_of(workspace, hands, text) is RiskLevel.HIGH, name


@pytest.mark.parametrize(
    "text", ["unzip -l a.zip", "unzip -p a.zip", "python3 -m zipfile -l a.zip"]
)
async def test_an_archive_that_is_only_looked_at_is_not_judged(
    workspace: Path, hands: Hands, text: str
) -> None:
    pack(workspace, *EVIL)
    assert await risk_of(workspace, hands, text) is RiskLevel.MEDIUM


@pytest.mark.parametrize(
    "text",
    [
        *("unzip -P x a.zip", "unzip -qdd a.zip", "unzip '*.zip'", "unzip -O cp866 a.zip"),
        *("unzip other.zip", "unzip unzip a.zip", "unzip -d d -d e a.zip", "unzip -x a.zip b"),
        *("unzip -n a.zip '*' -l", "unzip a.zip '*' -jd docs", "cp a.zip b.zip | unzip -n a.zip"),
        *("unzip a.zip -d", "python3 -mzipfile -e a.zip .", "python3 -m zipfile --ext a.zip ."),
        *("python3 -m tarfile -e a.tar", "tar xf a.tar", "find d -exec unzip {} ;"),
    ],
)
async def test_where_nobody_can_tell_what_is_unpacked_it_is_asked_about(
    workspace: Path, hands: Hands, text: str
) -> None:
    (workspace / "unzip").write_bytes((workspace / "a.zip").read_bytes())
    assert await risk_of(workspace, hands, text.replace(" ;", " ';'")) is RiskLevel.HIGH


async def test_an_archive_that_cannot_be_read_first_is_asked_about(
    workspace: Path, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link(workspace / "a.zip", workspace / "second.zip")
    assert await risk_of(workspace, hands, "unzip second.zip") is RiskLevel.HIGH
    (workspace / "second.zip").unlink()
    assert await risk_of(workspace, hands, "unzip a.zip") is RiskLevel.MEDIUM
    (workspace / "a").write_text("no archive")
    assert await risk_of(workspace, hands, "unzip a") is RiskLevel.HIGH
    monkeypatch.setattr(archives, "_MOST_BYTES", 10)
    assert await risk_of(workspace, hands, "unzip a.zip") is RiskLevel.HIGH


async def test_another_archive_under_the_same_name_is_not_unpacked(
    workspace: Path, hands: Hands
) -> None:
    scene, call = Scene(str(workspace)), RunBashParams(command="unzip -n a.zip")
    survey = await TOOL.survey(call, scene, hands)
    pack(workspace, "docs/other.md")
    with pytest.raises(StaleCommandError, match="what archives hold"):
        await TOOL.execute(call, scene, hands, survey.facts)

    pack(workspace, "Makefile")
    with pytest.raises(PathValidationError, match="a build runs"):
        await TOOL.execute(call, scene, hands)
    assert not (workspace / "Makefile").exists()


@pytest.mark.parametrize("text", EVERY_WAY)
def test_no_grant_reaches_to_other_archives(text: str) -> None:
    scene = Scene("/workspace")
    assert TOOL.call_class(RunBashParams(command=text), scene) is None
