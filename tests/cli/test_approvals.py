"""`handrail approvals` and `handrail grants`: deciding without leaving the command line."""

import json
import subprocess
import sys
from collections.abc import Generator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Shell, ended_well, refused
from tests.terminal import Terminal

ASK = """
import asyncio, json, sys
from pathlib import Path
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.client.api import HandrailApi

async def main(path, wait):
    known = Home(load_settings().home).get_credentials(Path.cwd())
    async with HandrailApi(known.server, known.project_id, known.agent_token) as api:
        answer = await api.execute(
            "write_file", {"path": path, "content": "pass\\n"},
            session_id="s", call_id=path.replace("/", "."), reasoning="I like files.",
            wait=float(wait),
        )
        while answer["status"] == "pending":
            await asyncio.sleep(0.05)
            answer = await api.get("/tools/" + answer["tool_id"])
        print(json.dumps(answer))

asyncio.run(main(*sys.argv[1:]))
"""


class Office(Shell):
    """A running Handrail, an agent that asks for files, and the command line."""

    def ask_for(self, path: str) -> Any:
        """Ask to write a file; gives the call as it waits."""
        return json.loads(self._agent(path, "0").communicate(timeout=30)[0])

    def become_of(self, path: str) -> Any:
        """What became of the call."""
        return json.loads(self._agent(path, "20").communicate(timeout=30)[0])

    def _agent(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", ASK, *words],
            cwd=self.workspace,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def sit_down(self, *words: str) -> Terminal:
        return Terminal(*words, cwd=self.workspace, env=self.environment)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Generator[Office]:
    made = Office(tmp_path_factory.mktemp("office"))
    made.start_up()
    yield made
    made.stop_all()


def test_where_nothing_waits_that_is_said(office: Office) -> None:
    said, same, grants = office.run_all("approvals", "approvals list", "grants")

    assert ended_well(said) == ended_well(same) == "Nothing waits for you.\n"
    assert ended_well(grants).startswith("There are no grants")


def test_a_question_is_listed_approved_by_the_end_of_its_id_and_done(office: Office) -> None:
    call = office.ask_for("src/one.py")

    listed = ended_well(office.run("approvals"))
    decided = ended_well(office.run("approvals", "approve", call["approval_id"][-8:]))

    assert "MEDIUM  Create src/one.py (1 line)" in listed
    assert decided == f"{call['approval_id']} is approved: Create src/one.py (1 line)\n"
    assert office.become_of("src/one.py")["status"] == "completed"
    assert (office.workspace / "src/one.py").read_text() == "pass\n"


def test_a_list_that_is_cut_says_how_many_there_are(office: Office) -> None:
    calls = [office.ask_for(f"src/m_{number}.py") for number in range(3)]

    cut, whole, listed = office.run_all(
        "approvals --limit 2", "approvals --all --limit 2", "approvals --limit 2 --json"
    )
    for call in calls:
        ended_well(office.run("approvals", "reject", call["approval_id"]))

    assert "2 of 3 shown; --all lists all of them." in ended_well(cut)
    assert "shown" not in ended_well(whole)
    assert ended_well(whole).count("MEDIUM") == 3
    answer = json.loads(ended_well(listed))
    assert (len(answer["approvals"]), answer["total_count"]) == (2, 3)


def test_a_question_is_refused_with_a_reason_that_the_agent_reads(office: Office) -> None:
    call = office.ask_for("src/two.py")

    decided = office.run("approvals", "reject", call["approval_id"], "--reason", "no", "--json")

    assert json.loads(ended_well(decided)) == {
        "success": True,
        "approval_id": call["approval_id"],
        "status": "rejected",
    }
    assert office.become_of("src/two.py")["error"].endswith("refused this call: no")
    # The wire's word for it is another than people's.
    listed, calls = office.run_all("approvals --status rejected", "executions")
    assert "Create src/two.py (1 line)  refused by " in ended_well(listed)
    assert "rejected" not in ended_well(calls)


def test_who_comes_second_is_told_who_was_faster(office: Office) -> None:
    call = office.ask_for("src/three.py")
    decided = ended_well(office.run("approvals", "reject", call["approval_id"]))
    assert decided.startswith(f"{call['approval_id']} is refused: ")

    line = refused(office.run("approvals", "approve", call["approval_id"]))

    assert "answered first: rejected at" in line
    assert line.endswith("from command-line")


def test_what_is_risky_is_shown_and_approved_only_when_it_is_said_twice(office: Office) -> None:
    call = office.ask_for("deploy.sh")

    shown = ended_well(office.run("approvals", "show", call["approval_id"][-8:]))
    hasty = office.run("approvals", "approve", call["approval_id"])
    still_open = office.ask_for("deploy.sh")["status"]
    decided = ended_well(office.run("approvals", "approve", call["approval_id"], "--yes"))

    assert " HIGH  Create deploy.sh (1 line)" in shown
    assert "+pass" in shown
    assert hasty.returncode == 1
    assert "+pass" in hasty.stdout
    assert "nothing is approved yet" in hasty.stderr
    assert still_open == "awaiting_approval"
    assert decided.startswith(f"{call['approval_id']} is approved: ")
    assert office.become_of("deploy.sh")["status"] == "completed"


def test_a_call_is_changed_from_a_file_and_the_new_card_is_shown(office: Office) -> None:
    call = office.ask_for("src/e_1.py")
    (office.workspace / "new.txt").write_text("print(4)\n")
    last = call["approval_id"][-8:]

    shown = ended_well(office.run("approvals", "edit", last, "--content", "new.txt"))
    decided = ended_well(office.run("approvals", "approve", last))

    assert "+print(4)" in shown
    assert "-pass" in shown
    assert f"approvals approve {last}" in shown
    assert decided.startswith(f"{call['approval_id']} is approved: ")
    ended = office.become_of("src/e_1.py")
    assert ended["result"]["output"].startswith("A person changed this call before approving it:")
    assert (office.workspace / "src/e_1.py").read_text() == "print(4)\n"


def test_a_call_is_changed_in_the_editor_of_the_person(office: Office) -> None:
    call = office.ask_for("src/e_2.py")
    editor = "sed -i s/pass/print(5)/"

    edited = office.run("approvals", "edit", call["approval_id"], "--json", EDITOR=editor)
    again = office.run("approvals", "edit", call["approval_id"], EDITOR="true")
    helpless = office.run("approvals", "edit", call["approval_id"], EDITOR="", VISUAL="")
    ended_well(office.run("approvals", "reject", call["approval_id"]))

    assert json.loads(ended_well(edited))["tool_params"]["content"] == "print(5)\n"
    assert "nothing was changed" in refused(again)
    assert "set $EDITOR" in refused(helpless)


def test_what_cannot_be_changed_like_this_is_told(office: Office) -> None:
    call = office.ask_for("src/e_3.py")

    wrong = office.run("approvals", "edit", call["approval_id"], "--command", "ls")
    missing = office.run("approvals", "edit", call["approval_id"], "--content", "none.txt")
    ended_well(office.run("approvals", "reject", call["approval_id"]))
    late = office.run("approvals", "edit", call["approval_id"], "--content", "new.txt")

    assert "command cannot be changed, only content" in refused(wrong)
    assert "none.txt cannot be read" in refused(missing)
    assert "answered first" in refused(late)


def test_calls_and_the_record_are_told_in_short(office: Office) -> None:
    office.become_of("../outside.py")

    executions, record = map(ended_well, office.run_all("executions", "audit show"))

    assert "path=../outside.py" in executions
    assert "'../outside.py' climbs out of the workspace" in executions
    assert "call.proposed" in record
    assert "write_file · FORBIDDEN · failed" in record
    assert '{"' not in record


def test_a_class_is_granted_listed_used_and_taken_back(office: Office) -> None:
    call = office.ask_for("lib/one.py")
    words = ("approvals", "approve", call["approval_id"], "--scope", "class", "--uses", "2")
    ended_well(office.run(*words))

    passed = office.become_of("lib/two.py")
    (grant,) = json.loads(ended_well(office.run("grants", "--json")))["grants"]
    listed = ended_well(office.run("grants"))
    revoked = ended_well(office.run("grants", "revoke", grant["grant_id"][-8:]))
    asked = office.ask_for("lib/three.py")

    assert (passed["status"], passed["approved_by"]) == ("completed", grant["grant_id"])
    assert (grant["words"], grant["uses_left"]) == ("writes to lib/**/*.py", 1)
    assert "writes to lib/**/*.py" in listed
    assert revoked == "writes to lib/**/*.py: revoked; you are asked again\n"
    assert asked["status"] == "awaiting_approval"
    ended_well(office.run("approvals", "reject", asked["approval_id"]))


def test_a_class_is_always_approved_once_its_card_was_read_and_the_grant_says_until_when(
    office: Office,
) -> None:
    call = office.ask_for("always/one.py")
    words = ("approvals", "approve", call["approval_id"], "--scope", "project", "--days", "7")
    hasty = office.run(*words)
    ended_well(office.run(*words, "--yes"))

    passed = office.become_of("always/two.py")
    (grant,) = json.loads(ended_well(office.run("grants", "--json")))["grants"]
    listed = ended_well(office.run("grants"))
    ended_well(office.run("grants", "revoke", grant["grant_id"][-8:]))
    asked = office.ask_for("always/three.py")

    assert hasty.returncode == 1
    assert "--scope project: writes to always/**/*.py, always in this project" in hasty.stdout
    assert "first call of this kind by this agent" in hasty.stdout
    assert "nothing is approved yet" in hasty.stderr
    assert (passed["status"], passed["approved_by"]) == ("completed", grant["grant_id"])
    assert (passed["scope"], grant["scope"]) == ("project", "project")
    given, ends = (datetime.fromisoformat(grant[name]) for name in ("created_at", "expires_at"))
    assert ends - given == timedelta(days=7)
    assert "every session" in listed
    assert asked["status"] == "awaiting_approval"
    ended_well(office.run("approvals", "reject", asked["approval_id"]))


def test_two_ways_to_say_how_long_are_one_too_many(office: Office) -> None:
    words = "approvals approve x --scope project --days 7 --minutes 5"

    assert refused(office.run(*words.split())) == "give either --minutes or --days"


def test_what_cannot_be_decided_is_told_in_one_line(office: Office) -> None:
    lines = [
        refused(process)
        for process in office.run_all(
            "approvals approve nothing",
            "approvals approve apr_none",
            "grants revoke nothing",
            "approvals watch",
        )
    ]

    assert lines == [
        "no open question has an id that ends in 'nothing'",
        "there is no approval 'apr_none'",
        "no grant has an id that ends in 'nothing'",
        "this is not a terminal; `handrail approvals` lists the open questions, "
        "and `handrail approvals approve ID` answers one",
    ]


def test_a_question_comes_to_a_terminal_that_watches_and_goes_when_it_is_answered(
    office: Office,
) -> None:
    with (
        office.sit_down("approvals", "watch", "--plain") as here,
        office.sit_down("approvals", "watch", "--plain") as there,
    ):
        here.expect("Waiting for questions")
        there.expect("Waiting for questions")
        office.ask_for("src/four.py")
        here.expect("Create src/four.py (1 line)")
        here.expect("the agent claims: I like files.")
        here.expect("decide")
        there.expect("decide")
        here.type("a")
        there.expect("approved by")

    assert office.become_of("src/four.py")["status"] == "completed"


def test_what_waited_before_somebody_came_is_put_to_them(office: Office) -> None:
    office.ask_for("src/five.py")

    with office.sit_down("approvals", "watch", "--plain") as terminal:
        terminal.expect("Create src/five.py (1 line)")
        terminal.expect("decide")
        terminal.type("r")
        terminal.expect("reason?")
        terminal.type("too late for today\n")
        office.become_of("src/five.py")

    assert office.become_of("src/five.py")["error"].endswith(": too late for today")


def test_the_terminal_where_handrail_runs_asks_as_well(tmp_path: Path) -> None:
    office = Office(tmp_path)
    with office.sit_down("up", "--port", "0") as terminal:
        terminal.expect("Stop with Ctrl+C")
        office.ask_for("src/six.py")
        terminal.expect("Create src/six.py (1 line)")
        terminal.expect("decide")
        terminal.type("a")
        assert office.become_of("src/six.py")["status"] == "completed"
