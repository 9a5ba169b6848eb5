"""handrail token: the secret alone on standard output, everything else beside it."""

import getpass
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from handrail.app.home import Credentials, Home
from handrail.cli.token import read_duration
from handrail.core.errors import BadInput
from tests.cli.conftest import Shell, ended_well, refused
from tests.terminal import Terminal


@pytest.fixture
def shell_with_server(shell: Shell) -> Shell:
    shell.start_up()
    return shell


def credentials(shell: Shell) -> Credentials:
    found = Home(shell.home).find_credentials(shell.workspace.resolve())
    assert found is not None
    return found


def listed(shell: Shell, *words: str) -> list[dict[str, Any]]:
    return json.loads(ended_well(shell.run("token", "list", "--json", *words)))["tokens"]


def id_of(shell: Shell, role: str) -> str:
    (found,) = [one for one in listed(shell) if one["role"] == role and one["state"] == "good"]
    return found["token_id"]


def test_a_secret_is_printed_once_and_alone_and_opens_the_running_server(
    shell_with_server: Shell,
) -> None:
    shell = shell_with_server
    made = shell.run("token", "create", "--role", "agent", "--name", "night", "--expires", "30d")

    (secret,) = made.stdout.splitlines()
    assert secret.startswith("hr_agent_")
    assert made.returncode == 0
    assert "night" in made.stderr
    assert secret not in made.stderr

    (one,) = [one for one in listed(shell) if one["name"] == "night"]
    lasts = datetime.fromisoformat(one["expires_at"]) - datetime.fromisoformat(one["created_at"])
    assert (lasts, one["state"]) == (timedelta(days=30), "good")
    shown = ended_well(shell.run("token", "list"))
    assert one["token_id"][-8:] in shown
    for part in (secret, secret[-4:], secret[9:17]):
        assert part not in shown + json.dumps(one)


def test_a_rotated_token_is_taken_up_by_what_runs_and_by_the_next_start(
    shell_with_server: Shell,
) -> None:
    shell = shell_with_server
    before = credentials(shell)

    made = json.loads(shell.run("token", "rotate", "--json", id_of(shell, "user")[-8:]).stdout)

    assert credentials(shell).user_token == made["secret"] != before.user_token
    assert made["kept_for"] == [str(shell.workspace.resolve())]
    # With the new one the server answers; the old one is refused.
    ended_well(shell.run("executions"))
    Home(shell.home).save_credentials(before)
    assert "revoked" in refused(shell.run("executions"))


def test_the_last_token_of_a_person_is_not_revoked_unasked(shell_with_server: Shell) -> None:
    shell = shell_with_server
    wanted = id_of(shell, "user")

    assert "--yes revokes it" in refused(shell.run("token", "revoke", wanted))
    words = ("token", "revoke", wanted)
    with Terminal(*words, cwd=shell.workspace, env=shell.environment) as terminal:
        terminal.expect("Revoke it?")
        terminal.type("n\n")
        assert terminal.wait() == 1
    assert id_of(shell, "user") == wanted

    said = ended_well(shell.run("token", "revoke", wanted, "--yes"))
    assert wanted[-8:] in said
    assert {one["state"] for one in listed(shell) if one["role"] == "user"} == {"revoked"}
    assert "already revoked" in refused(shell.run("token", "rotate", wanted))


def test_a_second_person_connects_their_own_machine(
    shell_with_server: Shell, tmp_path: Path
) -> None:
    shell = shell_with_server
    folder = tmp_path / "bobs shop"
    folder.mkdir()
    words = ["token", "create", "--user", "bob", "--role", "client", "--json"]
    place = ["--machine", "laptop", "--root", str(folder)]
    assert "--new-user" in refused(shell.run(*words, *place))

    made = json.loads(shell.run(*words, *place, "--new-user").stdout)

    server = credentials(shell).server
    other = {"HANDRAIL_HOME": str(tmp_path / "bobs home")}
    joining = ["connect", str(folder), "--server", server, "--project", made["project_id"]]
    assert "HANDRAIL_TOKEN" in refused(shell.run(*joining, **other))
    wrong = shell.run(*joining, HANDRAIL_TOKEN="hr_client_wrong", **other)
    assert "refused the connection" in refused(wrong)
    assert list((tmp_path / "bobs home" / "credentials").iterdir()) == []

    shell.environment |= {**other, "HANDRAIL_TOKEN": made["secret"]}
    shell.start(*joining, until="connected")
    # As the person at that machine, without any token but the machine's own.
    seen = shell.run("executions", "--workspace", str(folder), "--json")
    assert json.loads(ended_well(seen))["executions"] == []
    assert "no token for the role agent" in refused(
        shell.run("tour", "--auto", "--workspace", str(folder))
    )


def test_a_mistake_is_told_in_one_line(shell: Shell) -> None:
    process, _ = shell.start_up()
    process.terminate()
    process.communicate(timeout=20)
    mistakes = {
        "token list --user nobody": "there is no user 'nobody'",
        "token revoke zzzz": "no token has an id that ends in 'zzzz'",
        "token create --role agent --expires soon": "'soon' is not a duration",
        "token create --role client --machine laptop": "belong together",
        "token create --role agent --project prj_x": f"{getpass.getuser()} has no project 'prj_x'",
        "connect --server https://x": "belong together",
    }

    for told, ended in zip(mistakes.values(), shell.run_all(*mistakes), strict=True):
        assert told in refused(ended)


def test_tokens_are_made_only_where_the_servers_folder_is(shell: Shell) -> None:
    assert "no server has run" in refused(shell.run("token", "list"))
    assert not shell.home.exists()


@pytest.mark.parametrize("text", ["", "0d", "30", "d", "1.5h", "-1d", "100000d", "3y", "٣d"])
def test_what_is_no_span_of_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_duration(text)


def test_spans_of_time_are_read() -> None:
    assert read_duration("45m") == timedelta(minutes=45)
    assert read_duration("8w") == timedelta(weeks=8)
    assert read_duration(None) is None
