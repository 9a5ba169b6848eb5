"""Whatever a session does and a person decides: the draft shows what plain folders would."""

import random
import shutil
from pathlib import Path

import pytest

from tests.executors.drafts.conftest import OpenDrafts
from tests.executors.drafts.session import DraftSession, contents
from tests.executors.rehearsal.repositories import run

RUNS = 10
ROUNDS = 30
_NAMES = ("a.txt", "b.txt", "d/a.txt", "d/e/b.txt", "d/e/f/c.txt", "g/a.txt")
_FOLDERS = ("d", "d/e", "d/e/f", "g")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(RUNS))
async def test_steps_prefixes_and_refusals_leave_what_they_would_in_plain_folders(
    open_drafts: OpenDrafts, root: Path, tmp_path: Path, seed: int
) -> None:
    choose = random.Random(seed)
    for folder in _FOLDERS:
        (root / folder).mkdir()
        (root / folder / "kept.txt").write_text(folder)
    session = DraftSession(open_drafts())
    # The workspace, and what it would be after each step of the draft.
    folders = [shutil.copytree(root, tmp_path / "plain-0")]
    numbers: list[int] = []
    for count in range(1, ROUNDS + 1):
        action = choose.random()
        if action < 0.8 or not numbers:
            plain = shutil.copytree(folders[-1], tmp_path / f"plain-{count}")
            line = line_of(choose)
            await session.shell(line)
            run(line, plain)
            if contents(plain) != contents(folders[-1]):
                folders.append(plain)
                numbers.append((await session.sum_up()).steps[-1].number)
        elif action < 0.88:
            at = choose.randrange(len(numbers))
            await session.discard(numbers[at])
            del folders[at + 1 :], numbers[at:]
        elif action < 0.94:
            at = choose.randrange(len(numbers))
            await session.apply(numbers[at])
            del folders[: at + 1], numbers[: at + 1]
        else:
            await session.drafts.close()
            session = DraftSession(open_drafts(), count=session.count)
        assert contents(root) == contents(folders[0])
        async with session.view() as shown:
            assert contents(shown) == contents(folders[-1])


def line_of(choose: random.Random) -> str:
    name, other = choose.choice(_NAMES), choose.choice(_NAMES)
    folder, into = choose.choice(_FOLDERS), choose.choice(_FOLDERS)
    number = choose.randrange(1000)
    parent = Path(name).parent
    return choose.choice(
        (
            f"mkdir -p {parent} && echo {number} > {name} || true",
            f"mkdir -p {parent} && echo {number} >> {name} || true",
            f"rm -f {name}",
            f"rm -rf {folder}",
            f"rm -rf {folder} && mkdir -p {folder} && echo {number} > {folder}/a.txt || true",
            f"mkdir -p {Path(other).parent} && mv -Tf {name} {other} || true",
            # Not into itself, of which cp copies as much as the order of names allows.
            f"rm -rf {into}.old; [[ {into}/ == {folder}/* ]] || cp -r {folder} {into}.old || true",
            f"rm -rf moved && mv -T {folder} moved || true",
            f"rm -rf {folder} && echo {number} > {folder} || true",
        )
    )
