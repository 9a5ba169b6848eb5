"""How others were beaten, one by one: it does not work here, and a test shows that."""

import ast
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail import judge
from handrail.core.box import Isolation, Profile
from handrail.core.errors import BadInput, PathValidationError
from handrail.core.verdict import Ruling
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.sandbox.box import Programs
from tests.adversarial.boxes import boxed, run
from tests.adversarial.people import REPOSITORY
from tests.adversarial.trial import read_table

HERE = Path(__file__).parent
BYPASSES: list[dict[str, Any]] = tomllib.loads((HERE / "known_bypasses.toml").read_text())["bypass"]
PROOFS = sorted({proof for row in BYPASSES for proof in row["proofs"]})
ASKED = [
    pytest.param(argv, id=f"{row['id']}: {' '.join(argv)[:60]}")
    for row in BYPASSES
    for argv in row.get("asked", ())
]
LINES = [
    pytest.param(line, id=f"{row['id']}: {line[:60]}")
    for row in BYPASSES
    for line in row.get("lines", ())
]
HELD = [
    pytest.param(argv, id=f"{row['id']}: {' '.join(argv)[:60]}")
    for row in BYPASSES
    for argv in row.get("held", ())
]
MOST_WAITING = 2
# What turns text into commands.
SHELLS = {
    *("os.system", "os.popen", "asyncio.create_subprocess_shell", "pty.spawn"),
    *("subprocess.getoutput", "subprocess.getstatusoutput"),
}


def is_there(proof: str) -> bool:
    """Whether a test of that node id, or a row of that table, exists."""
    table, is_row, name = proof.partition(".toml: ")
    if is_row:
        rows = read_table(HERE / f"{table}.toml")
        return any(technique.name == name and not why for technique, why in rows)
    path, _, function = proof.partition("::")
    tree = ast.parse((REPOSITORY / path).read_text())
    made = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return any(node.name == function for node in made)


def test_each_is_listed_once_and_is_proven_or_waits_for_what_it_needs() -> None:
    ids = [row["id"] for row in BYPASSES]
    assert len({*ids}) == len(ids)
    assert [row["id"] for row in BYPASSES if not row["proofs"] and not row.get("waits_for")] == []


def test_what_waits_is_little_and_stands_together_at_the_end() -> None:
    waits = ["waits_for" in row for row in BYPASSES]
    assert waits == sorted(waits)
    assert sum(waits) <= MOST_WAITING


@pytest.mark.parametrize("proof", PROOFS)
def test_every_proof_exists(proof: str) -> None:
    assert is_there(proof)


@pytest.mark.parametrize("argv", ASKED)
def test_no_command_that_was_a_way_round_passes_unasked(argv: list[str]) -> None:
    words = {"command": argv[0], "args": argv[1:]}
    try:
        verdict = judge("execute_command", words, workspace="/ws")
    except BadInput:
        return
    assert verdict.ruling is not Ruling.ALLOW


@pytest.mark.parametrize("argv", HELD)
async def test_a_command_that_was_a_way_round_has_no_effect_where_it_passes_unasked(
    argv: list[str], tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    (tmp_path / "f").write_text("a\nTOPSECRET\n")
    (tmp_path / "x").write_text("#!/bin/sh\necho RAN; : > o\n")
    (tmp_path / "x").chmod(0o755)
    words = {"command": argv[0], "args": argv[1:]}
    verdict = judge("execute_command", words, workspace=str(tmp_path))
    (planned,), (profile,) = verdict.plan.argv, verdict.plan.profiles

    with boxed(tmp_path, programs, isolation) as executor:
        outcome = await run(executor, *planned, profile=profile)

    assert (verdict.ruling, profile) == (Ruling.ALLOW, Profile.READ)
    assert sorted(os.listdir(tmp_path)) == ["f", "x"]
    assert (tmp_path / "f").read_text() == "a\nTOPSECRET\n"
    assert b"RAN" not in outcome.stdout
    assert outcome.exit_code != 0


@pytest.mark.parametrize("line", LINES)
def test_no_line_that_was_a_way_round_passes_unasked(line: str) -> None:
    verdict = judge("run_bash", {"command": line}, workspace="/ws")
    assert verdict.ruling is not Ruling.ALLOW


@pytest.mark.parametrize("folder", ["/", "..", "/ws-evil", ".ssh", "a/../.."])
def test_no_line_runs_unasked_in_a_folder_that_is_not_its_own(folder: str) -> None:
    words = {"command": "ls", "working_dir": folder}
    assert judge("run_bash", words, workspace="/ws").ruling is not Ruling.ALLOW


@pytest.mark.parametrize("argv", [["rm", "-rf", "/"], ["env", "sudo", "ls"], ["git", "push", "-f"]])
def test_no_freedom_lets_pass_what_is_forbidden(argv: list[str]) -> None:
    words = {"command": argv[0], "args": argv[1:]}
    for autonomy in ("read_only", "supervised", "full"):
        for isolated in (True, False):
            verdict = judge(
                "execute_command", words, workspace="/ws", autonomy=autonomy, isolated=isolated
            )
            assert verdict.ruling is Ruling.DENY


@pytest.mark.parametrize("path", [".vscode/settings.json", ".claude/settings.json", "config.toml"])
def test_settings_are_written_only_after_somebody_was_asked(path: str) -> None:
    words = {"path": path, "content": "x"}
    verdict = judge("write_file", words, workspace="/ws", autonomy="full")
    assert verdict.ruling is not Ruling.ALLOW


@pytest.mark.parametrize("word", ["cwd", "env", "profile", "approved", "risk_level"])
def test_no_word_of_a_call_says_what_a_box_shows(word: str) -> None:
    for tool in ("execute_command", "run_bash"):
        with pytest.raises(BadInput, match=word):
            judge(tool, {"command": "ls", word: "/"}, workspace="/ws")


def test_no_text_of_ours_is_ever_given_to_a_shell() -> None:
    for path in Path(handrail.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in SHELLS, f"{path}:{node.lineno}"
                assert "shell" not in {word.arg for word in node.keywords}, f"{path}:{node.lineno}"


async def test_a_folder_whose_name_begins_like_the_workspace_is_another(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    for name in ("ws", "ws-evil"):
        (tmp_path / name).mkdir()
    (tmp_path / "ws-evil" / "x").write_text("TOPSECRET")
    with FileSystemExecutor(tmp_path / "ws") as files:
        for path in ("../ws-evil/x", str(tmp_path / "ws-evil" / "x")):
            with pytest.raises(PathValidationError):
                await files.read(path, max_bytes=100)
    with boxed(tmp_path / "ws", programs, isolation) as executor:
        outcome = await run(executor, "cat", "../ws-evil/x", str(tmp_path / "ws-evil" / "x"))
    assert outcome.stdout == b""


async def test_what_one_command_sets_the_next_does_not_find(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    poison = (
        "export LD_PRELOAD=./x BASH_ENV=./x PAGER=./x; umask 0; ulimit -n 16; cd /"
        "; echo x > $HOME/.bashrc; echo x > /tmp/x; echo x > /dev/shm/x; exit 0"
    )
    look = "env; umask; ulimit -n; pwd; ls -A $HOME /tmp /dev/shm"
    with boxed(tmp_path, programs, isolation) as executor:
        before = await run(executor, "bash", "-c", look)
        await run(executor, "bash", "-c", poison)
        after = await run(executor, "bash", "-c", look)
    assert after.stdout == before.stdout != b""
    assert b"LD_PRELOAD" not in after.stdout


async def test_a_link_made_in_a_box_leads_the_tools_outside_of_it_nowhere(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    ws, outside = tmp_path / "ws", tmp_path / "outside"
    ws.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("TOPSECRET")
    with boxed(ws, programs, isolation) as executor:
        await run(executor, "ln", "-s", str(outside), "way")
        await run(executor, "ln", "-s", str(outside / "secret"), "file")
        with FileSystemExecutor(ws) as files:
            for path in ("way/secret", "file"):
                with pytest.raises(PathValidationError):
                    await files.read(path, max_bytes=100)
                with pytest.raises(PathValidationError):
                    await files.write(path, b"x", expected=None)
            with pytest.raises(PathValidationError):
                await files.write("way/new", b"x", expected=None)
        outcome = await run(executor, "cat", "way/secret", "file", profile=Profile.READ)
    assert outcome.stdout == b""
    assert (outside / "secret").read_text() == "TOPSECRET"
    assert os.listdir(outside) == ["secret"]


async def test_a_write_goes_through_no_name_that_could_be_foreseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    real = os.open

    def note(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            assert flags & os.O_EXCL
            names.append(str(path))
        return real(path, flags, mode, dir_fd=dir_fd)

    with FileSystemExecutor(tmp_path) as files:
        monkeypatch.setattr(os, "open", note)
        for _ in range(5):
            await files.write("same.txt", b"x", expected=None)
    monkeypatch.undo()
    assert len({*names}) == len(names) == 5
