"""`handrail init`: from nothing to a first decision, and back to nothing with `uninstall`."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, ended_well, refused
from tests.terminal import Terminal


def at_a_terminal(shell: Shell, *words: str) -> Terminal:
    return Terminal(*words, cwd=shell.workspace, env=shell.environment)


@pytest.mark.slow
@pytest.mark.behaviour("init.first-approval")
def test_a_person_goes_from_nothing_to_a_first_decision(shell: Shell) -> None:
    with at_a_terminal(shell, "init", "--port", "0") as terminal:
        terminal.expect(f"Agents will work in {shell.workspace}")
        terminal.expect("right folder?")
        terminal.type("y\n", after_seconds=0.1)
        terminal.expect("Set up.")
        terminal.expect("This machine:")
        terminal.expect("Enter skips this")
        terminal.type("\n", after_seconds=0.1)
        terminal.expect("Skipped")
        terminal.expect("Start it?")
        terminal.type("y\n", after_seconds=0.1)
        terminal.expect("handrail-tour/hello.txt")
        terminal.expect("decide")
        terminal.type("a")
        terminal.expect("The agent is told: completed")
        terminal.expect("Remove handrail-tour/hello.txt again?")
        written = (shell.workspace / "handrail-tour" / "hello.txt").read_text()
        terminal.type("y\n", after_seconds=0.1)
        terminal.expect(f"up {shell.workspace}")
        assert terminal.wait() == 0

    assert written == "Hello from Handrail.\n"
    # What was approved can be undone, so that much is kept.
    assert [path.name for path in shell.workspace.iterdir()] == [".handrail"]
    assert json.loads(ended_well(shell.run("audit", "verify", "--json")))["whole"]


@pytest.mark.slow
@pytest.mark.behaviour("provider.key-kept")
def test_a_key_is_asked_for_unseen_and_kept_where_only_the_person_can_read(shell: Shell) -> None:
    with at_a_terminal(shell, "init", "--port", "0") as terminal:
        terminal.expect("right folder?")
        terminal.type("\n", after_seconds=0.1)
        terminal.expect("Which provider (anthropic, openai, or other for another server")
        terminal.type("anthropic\n", after_seconds=0.1)
        terminal.expect("The key for anthropic")
        terminal.type("sk-a-long-secret\n", after_seconds=0.1)
        terminal.expect(f"It is stored in {shell.home}/provider-keys.json")
        terminal.expect("Start it?")
        terminal.type("n\n", after_seconds=0.1)
        assert terminal.wait() == 0
        assert "sk-a-long-secret" not in terminal.shown

    file = shell.home / "provider-keys.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "sk-a-long-secret" in file.read_text()
    told = ended_well(shell.run("doctor"))
    assert "anthropic, claude-sonnet-5-5 at https://api.anthropic.com" in told
    assert f"its key comes from {file}" in told
    assert "sk-a" not in told


def test_a_key_can_be_piped_in_and_taken_back(shell: Shell) -> None:
    words = ("init", "--yes", "--json", "--provider", "openai", "--key-stdin")

    made = json.loads(ended_well(shell.pipe(b"sk-a-long-secret\nmore\n", *words)))
    file = shell.home / "provider-keys.json"

    assert (made["provider"], made["key"]) == ("openai", str(file))
    assert json.loads(file.read_text()) == {
        "keys": {"openai": {"address": "https://api.openai.com/v1", "key": "sk-a-long-secret"}}
    }
    assert "characters that a key cannot contain" in refused(shell.pipe(b"two words", *words))
    assert "no key was given" in refused(shell.pipe(b"", *words))
    looked = json.loads(ended_well(shell.run("uninstall", "--dry-run", "--json")))
    assert looked["keys"] == {"openai": str(file)}
    assert "no longer in" in ended_well(shell.run("config", "forget-key", "openai"))
    assert not file.exists()
    assert "no key for 'openai' is stored" in refused(shell.run("config", "forget-key", "openai"))


@pytest.mark.slow
def test_a_server_of_ones_own_is_named_and_no_key_lands_in_another_question(shell: Shell) -> None:
    with at_a_terminal(shell, "init", "--port", "0") as terminal:
        terminal.expect("right folder?")
        terminal.type("\n", after_seconds=0.1)
        terminal.expect("Which provider")
        terminal.type("oracle\n", after_seconds=0.1)
        terminal.expect("That is not one of anthropic, openai, other")
        terminal.expect("Which provider")
        terminal.type("other\n", after_seconds=0.1)
        terminal.expect("Its address")
        terminal.type("localhost\n", after_seconds=0.1)
        terminal.expect("It must be an address such as")
        terminal.type("http://127.0.0.1:9/v1\n", after_seconds=0.1)
        terminal.expect("The key for openai at http://127.0.0.1:9/v1")
        terminal.type("sk-a-long-secret\nmore\n", after_seconds=0.1)
        terminal.expect("for http://127.0.0.1:9/v1.")
        terminal.expect("The name of the model")
        terminal.type("qwen\n", after_seconds=0.3)
        terminal.expect("agent.model is now: qwen")
        terminal.expect("Start it?")
        terminal.type("n\n", after_seconds=0.1)
        assert terminal.wait() == 0

    told = json.loads(ended_well(shell.run("config", "--json")))
    now = {one["key"]: one["value"] for one in told["settings"]}
    assert now["agent.provider"] == "openai"
    assert now["agent.base_url"] == "http://127.0.0.1:9/v1"
    assert now["agent.model"] == "qwen"


def test_another_provider_the_second_time_says_what_it_changes(shell: Shell) -> None:
    ended_well(shell.run("init", "--yes", "--provider", "anthropic"))
    ended_well(shell.run("config", "set", "agent.model", "claude-of-before"))

    told = ended_well(shell.run("init", "--yes", "--provider", "openai"))

    assert "agent.provider is now: openai (it was anthropic)" in told
    assert "agent.model is no longer set: claude-of-before was for anthropic" in told
    again = json.loads(ended_well(shell.run("init", "--yes", "--json", "--provider", "openai")))
    assert (again["provider"], again["changes"]) == ("openai", [])


def test_a_key_whose_owner_is_not_named_is_refused_before_anything_is_made(shell: Shell) -> None:
    assert "say which provider the key is for" in refused(shell.run("init", "--yes", "--key-stdin"))
    assert "not for 'oracle'" in refused(shell.run("init", "--yes", "--provider", "oracle"))
    assert not shell.home.exists()


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["n", "Ctrl+C"])
def test_who_says_no_has_nothing_made(shell: Shell, answer: str) -> None:
    with at_a_terminal(shell, "init") as terminal:
        terminal.expect("right folder?")
        if answer == "n":
            terminal.type("n\n", after_seconds=0.1)
        else:
            terminal.interrupt()
        assert terminal.wait() == 1
    assert not shell.home.exists()


@pytest.mark.slow
def test_who_breaks_off_the_first_call_finds_no_question_later(shell: Shell) -> None:
    with at_a_terminal(shell, "init", "--port", "0") as terminal:
        terminal.expect("right folder?")
        terminal.type("\n", after_seconds=0.1)
        terminal.expect("Enter skips this")
        terminal.type("\n", after_seconds=0.1)
        terminal.expect("Start it?")
        terminal.type("\n", after_seconds=0.1)
        terminal.expect("decide")
        terminal.interrupt()
        terminal.expect("Cancelled")
        assert terminal.wait() == 1

    shell.start_up()
    assert json.loads(ended_well(shell.run("approvals", "--json")))["approvals"] == []


def test_without_a_terminal_it_says_what_it_made_and_twice_is_harmless(shell: Shell) -> None:
    first = json.loads(ended_well(shell.run("init", "--yes", "--json")))
    again = json.loads(ended_well(shell.run("init", "--yes", "--json")))
    told = ended_well(shell.run("init", "--yes"))

    assert (first["new"], again["new"]) == (True, False)
    assert {**first, "new": None, "findings": None} == {**again, "new": None, "findings": None}
    assert first["workspace"] == str(shell.workspace)
    assert "This folder was set up before." in told
    assert f"up {shell.workspace}" in told


def test_what_to_type_next_names_the_home_and_the_port_that_were_named(
    shell: Shell, tmp_path: Path
) -> None:
    other = tmp_path / "other home"
    told = ended_well(shell.run("init", "--yes", "--home", str(other), "--port", "8123"))

    assert f"doctor --home '{other}'` lists them all" in told
    assert told.splitlines()[-1].endswith(f"up {shell.workspace} --home '{other}' --port 8123")


def test_where_a_server_runs_already_the_folder_is_connected_first(
    shell: Shell, tmp_path: Path
) -> None:
    shell.start_up()
    folder = tmp_path / "another"
    folder.mkdir()
    told = ended_well(shell.run("init", "--yes", str(folder)))

    assert told.index(f"connect {folder}") < told.index(f"tour --workspace {folder}")


def test_nobody_is_asked_who_is_not_there(shell: Shell, tmp_path: Path) -> None:
    assert "use --yes" in refused(shell.run("init"))
    assert "is not a folder" in refused(shell.run("init", "--yes", str(tmp_path / "no")))
    assert not shell.home.exists()


@pytest.mark.behaviour("uninstall.exactly")
def test_what_was_made_is_removed_when_nothing_runs(shell: Shell) -> None:
    (shell.workspace / "mine.txt").write_text("mine")
    process, _ = shell.start_up()
    ended_well(shell.run("tour", "--auto", "--json"))

    running = refused(shell.run("uninstall", "--yes", "--json"))
    looked = json.loads(ended_well(shell.run("uninstall", "--dry-run", "--json")))
    process.terminate()
    process.communicate(timeout=10)
    unasked = refused(shell.run("uninstall", "--json"))
    assert shell.home.exists()
    told = ended_well(shell.run("uninstall", "--yes"))

    assert "Handrail is running on" in running
    assert not looked["removed"]
    assert str(shell.home / "handrail.db") in [item["path"] for item in looked["items"]]
    assert "use --yes" in unasked
    assert "Removed." in told
    assert "The program itself stays" in told
    assert not shell.home.exists()
    assert [path.name for path in shell.workspace.iterdir()] == ["mine.txt"]
    assert "there is no" in refused(shell.run("uninstall", "--yes"))


def test_a_person_is_asked_before_anything_is_removed(shell: Shell) -> None:
    ended_well(shell.run("init", "--yes"))
    for answer, is_left in (("n", True), ("y", False)):
        with at_a_terminal(shell, "uninstall") as terminal:
            terminal.expect("handrail.db")
            terminal.expect("Remove all of this permanently")
            terminal.type(f"{answer}\n", after_seconds=0.1)
            assert terminal.wait() == 0
        assert shell.home.exists() == is_left
