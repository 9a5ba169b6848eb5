"""A command is told which files were kept from it, so that nobody takes its words for the truth."""

import subprocess

import pytest

from tests.journeys.conftest import Rig

KEPT = "[kept from it: .env, server.pem; "


@pytest.mark.behaviour("box.kept-from-it")
async def test_git_and_what_fails_say_which_files_they_could_not_see(rig: Rig) -> None:
    root = rig.workspace
    for name in (".env", "server.pem", "a.txt"):
        (root / name).write_text("one\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True, timeout=30)
    rig.start_server()
    rig.start_client()

    status = await rig.call("git", {"action": "status"}, "status")
    log = await rig.call("git", {"action": "log"}, "log")
    failing = await rig.call("run_bash", {"command": "grep -r two ."}, "grep")
    works = await rig.call("run_bash", {"command": "ls -a"}, "ls")

    assert KEPT in status["result"]["output"]
    assert status["result"]["kept_from_it"] == [".env", "server.pem"]
    assert failing["result"]["exit_code"] != 0
    assert KEPT in failing["result"]["output"]
    assert "kept from it" not in log["result"]["output"] + works["result"]["output"]
