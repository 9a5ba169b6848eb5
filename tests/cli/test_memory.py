"""handrail memory and handrail skills, against a running server."""

import json
import stat
from urllib.request import Request, urlopen

from handrail.app.home import Home
from tests.cli.conftest import Shell, ended_well, refused


def remember(shell: Shell, key: str, content: str) -> None:
    """Have an agent store something."""
    known = Home(shell.home).find_credentials(shell.workspace.resolve())
    assert known is not None
    body = {
        "tool_name": "remember",
        "tool_params": {"key": key, "value": content},
        "session_id": "s",
        "call_id": key.replace("/", "."),
        "wait": 20,
    }
    request = Request(
        f"{known.server}/my/projects/{known.project_id}/tools/execute",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {known.agent_token}", "content-type": "application/json"},
    )
    with urlopen(request, timeout=30) as answer:
        assert json.load(answer)["status"] == "completed"


def test_a_person_lists_searches_exports_and_forgets(shell: Shell) -> None:
    shell.start_up()
    assert "There are no memories yet." in ended_well(shell.run("memory"))
    remember(shell, "release/day", "We release on [red]Tuesdays[/]\x1b[2J.")
    remember(shell, "tea", "green\nof course")

    listed = ended_well(shell.run("memory", "list"))
    assert "release/day" in listed
    assert "[red]Tuesdays[/]\\x1b[2J." in listed
    assert "[1 line]" in listed
    found = json.loads(ended_well(shell.run("memory", "list", "release", "--json")))
    assert found["memories"][0]["key"] == "release/day"

    out = shell.workspace / "out.json"
    assert "2 memories" in ended_well(shell.run("memory", "export", "--output", str(out)))
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert {one["key"] for one in json.loads(out.read_text())["memories"]} == {"release/day", "tea"}
    assert "cannot be written" in refused(shell.run("memory", "export", "--output", str(out)))

    assert "release/day: deleted" in ended_well(shell.run("memory", "forget", "release/day"))
    assert "no memory" in refused(shell.run("memory", "forget", "release/day"))
    left = json.loads(ended_well(shell.run("memory", "export")))
    assert [one["key"] for one in left["memories"]] == ["tea"]


def test_skills_are_listed_with_a_sentence_about_those_left_out(shell: Shell) -> None:
    shell.start_up()
    (shell.home / "skills" / "bread").mkdir(parents=True)
    (shell.home / "skills" / "bread" / "SKILL.md").write_text("Knead it.")

    shown = shell.run("skills")
    told = json.loads(ended_well(shell.run("skills", "--json")))

    assert "git-hygiene" in shown.stdout
    assert "the skill 'bread' is left out: SKILL.md does not begin" in shown.stderr
    assert [one["name"] for one in told["skills"]] == [
        "careful-edit",
        "explain-risk",
        "git-hygiene",
    ]
