"""A command is told which files were kept from it, so that nobody takes its words for the truth."""

import subprocess

import pytest

from tests.journeys.conftest import Rig

KEPT = "[kept from it: .env, server.pem; "


@pytest.mark.behaviour("box.kept-from-it")
async def test_a_command_that_fails_says_what_it_could_not_see_and_git_is_not_misled(
    rig: Rig,
) -> None:
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

    assert "nothing to commit" in status["result"]["output"]
    assert failing["result"]["exit_code"] != 0
    assert failing["result"]["kept_from_it"] == [".env", "server.pem"]
    assert KEPT in failing["result"]["output"]
    quiet = (status, log, works)
    assert "kept from it" not in "".join(call["result"]["output"] for call in quiet)
