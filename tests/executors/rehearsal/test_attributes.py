"""Access lists of files are kept as they were rehearsed, and no other attribute is lost unsaid."""

import os
import struct
from pathlib import Path

import pytest

from handrail.core.errors import StaleFileError
from tests.executors.rehearsal.workbench import Workbench

pytest_plugins = ["tests.executors.rehearsal.fixtures"]

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
CAPABILITY = "security.capability"
_OWNER, _USER, _GROUP, _MASK, _OTHER = 1, 2, 4, 16, 32
_NO_ID = 0xFFFFFFFF
# The ordinary user of these tests is the only one who is known in an overlay of theirs.
SOMEBODY = os.geteuid() or 12_345


def access_list(may: int, to: int = SOMEBODY) -> bytes:
    """An access list that gives one further user these permissions."""
    entries = [(_OWNER, 7, _NO_ID), (_USER, may, to), (_GROUP, 4, _NO_ID)]
    entries += [(_MASK, 7, _NO_ID), (_OTHER, 4, _NO_ID)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def give(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"this file system has no {name}: {error.strerror}")


def set_line(path: str, name: str, value: bytes) -> str:
    return f"python3 -c \"import os; os.setxattr('{path}', '{name}', {value!r})\""


@pytest.mark.parametrize(
    "line", ["echo more >> a", "chmod o-r a", "cp a b; echo x > a; mv b c; cp -p c b", "mv a b"]
)
def test_a_file_that_is_changed_keeps_its_access_list(bench: Workbench, line: str) -> None:
    (bench.root / "a").write_text("a")
    give(bench.root / "a", ACCESS, access_list(6))
    bench.apply(bench.effects_of(line))
    path = bench.root / ("a" if (bench.root / "a").exists() else "b")
    assert struct.unpack_from("<HHI", os.getxattr(path, ACCESS), 12) == (_USER, 6, SOMEBODY)


def test_an_access_list_that_is_changed_is_an_effect_and_can_be_undone(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    give(bench.root / "a", ACCESS, access_list(4))
    effects = bench.effects_of(set_line("a", ACCESS, access_list(6)))
    assert [(one.path, str(one.kind)) for one in effects.changes] == [("a", "mode")]
    bench.apply(effects)
    assert os.getxattr(bench.root / "a", ACCESS) == access_list(6)
    assert bench.store.undo("call")
    assert os.getxattr(bench.root / "a", ACCESS) == access_list(4)


def test_new_files_and_folders_get_the_default_access_list_of_their_folder(
    bench: Workbench,
) -> None:
    folder = bench.root / "d"
    folder.mkdir()
    give(folder, DEFAULT, access_list(6))
    bench.apply(bench.effects_of("echo x > d/new; mkdir d/e; echo y > d/e/f"))
    for name in ("new", "e", "e/f"):
        assert ACCESS in os.listxattr(folder / name), name
    assert os.getxattr(folder / "e", DEFAULT) == access_list(6)


def test_a_list_that_a_command_takes_away_is_gone_and_comes_back_by_undo(
    bench: Workbench,
) -> None:
    folder = bench.root / "d"
    folder.mkdir()
    give(folder, DEFAULT, access_list(6))
    bench.apply(bench.effects_of(f"python3 -c \"import os; os.removexattr('d', '{DEFAULT}')\""))
    assert os.listxattr(folder) == []
    assert bench.store.undo("call")
    assert os.getxattr(folder, DEFAULT) == access_list(6)


def test_a_new_folder_inherits_no_list_that_the_command_had_taken_away(bench: Workbench) -> None:
    folder = bench.root / "d"
    folder.mkdir()
    give(folder, DEFAULT, access_list(6))
    take_away = f"python3 -c \"import os; os.removexattr('d', '{DEFAULT}')\""
    bench.apply(bench.effects_of(f"{take_away}; mkdir d/e; echo x > d/e/f"))
    assert [os.listxattr(folder / name) for name in ("e", "e/f")] == [[], []]


def test_an_access_list_that_a_person_has_changed_since_is_not_overwritten(
    bench: Workbench,
) -> None:
    (bench.root / "a").write_text("a")
    give(bench.root / "a", ACCESS, access_list(4))
    effects = bench.effects_of("echo x > a")
    os.setxattr(bench.root / "a", ACCESS, access_list(6))
    with pytest.raises(StaleFileError, match="another access list now"):
        bench.apply(effects)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives capabilities to files")
@pytest.mark.parametrize("line", ["echo x >> run", "chmod 700 run", "mv run b", "rm run"])
def test_no_change_of_a_file_with_capabilities_is_applied(bench: Workbench, line: str) -> None:
    (bench.root / "run").write_text("run")
    give(bench.root / "run", CAPABILITY, bytes.fromhex("01000002" + "00040000" + "00" * 12))
    effects = bench.effects_of(line)
    assert any("'run' has file capabilities" in one for one in effects.refusals)
