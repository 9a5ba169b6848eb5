"""A folder beside the workspace: agents read it in every way they work, and change it in none."""

import asyncio
from typing import Any

import pytest

from tests.journeys.conftest import Rig

# Reads a file and a guarded one, then tries to write; what it prints is a change of the workspace.
TRIES = (
    "for f in a.txt .env; do cat ../lib/$f >> seen.txt; done; echo x > ../lib/a.txt; "
    "touch ../lib/new; cat seen.txt"
)


@pytest.mark.behaviour("folders.beside")
async def test_a_folder_that_a_person_has_added_is_read_and_never_changed(rig: Rig) -> None:
    lib = rig.workspace.parent / "lib"
    lib.mkdir()
    (lib / "a.txt").write_text("from the lib\n")
    (lib / ".env").write_text("SECRET=1\n")
    await asyncio.to_thread(rig.start_server)
    await asyncio.to_thread(rig.start_client)
    names = iter(map(str, range(99)))

    async def call(tool: str, session: str = "one", **params: Any) -> dict[str, Any]:
        return await rig.call(tool, params, f"call-{next(names)}", session_id=session)

    before = await call("read_file", path="../lib/a.txt")
    added = await asyncio.to_thread(
        rig.run, "folders", "add", str(lib), "--workspace", str(rig.workspace)
    )
    read = await call("read_file", path="../lib/a.txt")
    listed = await call("list_directory", path="../lib")
    found = await call("search_code", pattern="lib", path=str(lib))
    hidden = await call("read_file", path="../lib/.env")
    written = await call("write_file", path="../lib/a.txt", content="x")
    by_reader = await call("run_bash", command="cat ../lib/a.txt ../lib/missing")
    await asyncio.to_thread(rig.run, "autonomy", "draft", "--workspace", str(rig.workspace))
    drafted = await call("run_bash", "two", command=TRIES)
    read_in_draft = await call("read_file", "two", path=f"{lib}/a.txt")
    listed_in_draft = await call("list_directory", "two", path="../lib")

    assert "`handrail folders add`" in before["error"]
    assert added.returncode == 0, added.stdout
    assert read["result"]["content"] == "from the lib\n"
    assert [one["path"] for one in listed["result"]["files"]] == [f"{lib}/a.txt"]
    assert [one["path"] for one in found["result"]["matches"]] == [f"{lib}/a.txt"]
    assert "environment files hold secrets" in hidden["error"]
    assert "which agents can read and not change" in written["error"]
    assert by_reader["result"]["stdout"] == "from the lib\n"
    assert by_reader["risk_level"] == "LOW"
    assert drafted["result"]["stdout"] == "from the lib\n"
    assert read_in_draft["result"]["content"] == "from the lib\n"
    assert len(listed_in_draft["result"]["files"]) == 1
    assert (lib / "a.txt").read_text() == "from the lib\n"
    assert sorted(path.name for path in lib.iterdir()) == [".env", "a.txt"]


@pytest.mark.behaviour("folders.beside")
async def test_a_rehearsal_shows_it_too(rig: Rig) -> None:
    lib = rig.workspace.parent / "lib"
    lib.mkdir()
    (lib / "a.txt").write_text("from the lib\n")
    rig.run("folders", "add", str(lib), "--workspace", str(rig.workspace))
    await asyncio.to_thread(rig.start_server)
    await asyncio.to_thread(rig.start_client)

    line = "wc -l $(echo ../lib/a.txt); echo x > ../lib/new || echo refused"
    done = await rig.call("run_bash", {"command": line})

    assert done["result"]["rehearsed"] is True
    assert "1 ../lib/a.txt" in done["result"]["stdout"]
    assert "refused" in done["result"]["stdout"]
    assert not (lib / "new").exists()
