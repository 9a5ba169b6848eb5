"""A backup that is damaged, cut off, foreign or of another version is refused in one sentence."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.app.backup.archive import Manifest, list_members, read_archive, write_archive
from handrail.app.backup.restore import prepare_restore
from handrail.core.errors import SetupError
from tests.app.backup.conftest import Kept, quiet


def why_refused(kept: Kept, file: Path) -> str:
    with (
        pytest.raises(SetupError) as refused,
        prepare_restore(kept.home, file, quiet),
    ):
        raise AssertionError("it was taken")
    assert "\n" not in refused.value.message
    return refused.value.message


def test_a_damaged_backup_is_refused_wherever_the_damage_is(kept: Kept) -> None:
    made = kept.back_up("good.tar")
    good = made.file.read_bytes()
    before = kept.home.database.read_bytes()
    bad = kept.folder / "bad.tar"
    content_ends = good.rstrip(b"\0")
    for place in range(600, len(content_ends), len(content_ends) // 40):
        content = bytearray(good)
        content[place] ^= 0xFF
        bad.write_bytes(content)
        # Padding between two members holds nothing.
        if good[place] != 0 or b"\0" not in good[place - 1 : place + 2]:
            assert str(bad) in why_refused(kept, bad)
    for length in (0, 100, 700, len(content_ends) // 2, len(content_ends) - 600):
        bad.write_bytes(good[:length])
        assert str(bad) in why_refused(kept, bad)
    bad.write_bytes(b"not a backup at all" * 1_000)
    assert "is not a backup of Handrail" in why_refused(kept, bad)
    assert "cannot be read" in why_refused(kept, kept.folder / "none.tar")
    assert kept.home.database.read_bytes() == before
    assert kept.verify().broken is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "handrail backup 2"}, "another version of Handrail"),
        ({"schema": "9999"}, "written by a newer Handrail"),
    ],
)
def test_a_backup_of_another_version_is_refused(
    kept: Kept, changes: dict[str, Any], words: str
) -> None:
    made = kept.back_up("good.tar")
    other = rewritten(kept, made.file, replace(made.manifest, **changes))
    assert words in why_refused(kept, other)


def test_a_manifest_that_says_another_position_is_refused(kept: Kept) -> None:
    made = kept.back_up("good.tar")
    (position,) = made.manifest.projects
    moved = replace(made.manifest, projects=[replace(position, lines=3)])
    assert "cannot be trusted" in why_refused(kept, rewritten(kept, made.file, moved))


def rewritten(kept: Kept, file: Path, manifest: Manifest) -> Path:
    """The same backup under another manifest."""
    folder, other = kept.folder / "unpacked", kept.folder / "other.tar"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    read_archive(file, folder, lambda done, size: None)
    assert list_members(folder) == manifest.files
    with other.open("wb") as stream:
        write_archive(stream, manifest, folder, lambda done, size: None)
    return other
