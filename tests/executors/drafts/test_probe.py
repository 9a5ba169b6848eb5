"""Whether a folder can hold drafts is tried for real, and nothing is left of it."""

from pathlib import Path

from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_drafts
from tests.executors.drafts.conftest import OpenDrafts
from tests.executors.drafts.session import DraftSession


async def test_a_folder_on_disk_can_hold_drafts_and_keeps_those_it_has(
    session: DraftSession, open_drafts: OpenDrafts, tmp_path: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.drafts.close()
    before = names_in(tmp_path / "drafts")
    maker = Maker()

    why_not = await prove_drafts(maker, tmp_path / "drafts")
    maker.close()

    assert why_not is None
    assert names_in(tmp_path / "drafts") == before
    assert await DraftSession(open_drafts()).read("a.txt") == "one\n"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
