"""`handrail config`: settings are listed, read, changed and taken back."""

import json

from tests.cli.conftest import Shell, ended_well, refused


def test_a_person_lists_reads_changes_and_takes_back(shell: Shell) -> None:
    listed = ended_well(shell.run("config"))
    assert "agent.max_turns            50      default  How many times a run may" in listed
    assert not shell.home.exists()

    changed = ended_well(shell.run("config", "set", "agent.max_turns", "7"))
    assert "agent.max_turns is now: 7 (from: file)" in changed
    assert ended_well(shell.run("config", "get", "agent.max_turns")) == "7\n"
    assert ended_well(shell.run("config", "get", "agent.model")) == ""
    told = json.loads(
        ended_well(shell.run("config", "get", "agent.model", "--json", HANDRAIL_MODEL="m"))
    )
    assert (told["value"], told["source"]) == ("m", "environment")
    back = json.loads(ended_well(shell.run("config", "unset", "agent.max_turns", "--json")))
    assert (back["value"], back["source"], back["agent_may_set"]) == (50, "default", False)


def test_what_a_terminal_would_obey_is_shown_and_not_obeyed(shell: Shell) -> None:
    ended_well(shell.run("config", "set", "agent.model", "[red]x[/]"))
    assert "[red]x[/]" in ended_well(shell.run("config"))
    assert "cannot have this value" in refused(shell.run("config", "set", "agent.model", "\x1b[2J"))


def test_a_mistake_is_told_in_a_sentence(shell: Shell) -> None:
    assert "there is no setting 'x'" in refused(shell.run("config", "get", "x"))
    assert "whole number" in refused(shell.run("config", "set", "agent.max_turns", "x"))
    for no_address in ("foo", "ftp://x", "http://", "http://a:b@c/v1", "http://x/v1?k=1"):
        words = refused(shell.run("config", "set", "agent.base_url", no_address))
        assert "it must be an address such as http" in words
    assert "there are keys for" in refused(shell.run("config", "set-key", "oracle"))
    assert "it must be one of anthropic" in refused(shell.run("config", HANDRAIL_PROVIDER="oracle"))
    assert "whole number" in refused(shell.run("config", DAILY_TOKEN_LIMIT="lots"))
    ended_well(shell.run("config", "set", "agent.model", "x"))
    (shell.home / "config.toml").write_text("[agent]\nmodle = 'x'\n")
    assert "agent.modle is in the file, but is not a setting" in shell.run("config").stderr
    (shell.home / "config.toml").write_text("allowed_hosts = ['10.0.0.5']\n")
    assert "policy.toml, under [http]; `trusted_hosts` adds hosts" in shell.run("config").stderr
    (shell.home / "config.toml").write_text("[agent]\nmodel =\n")
    assert "(at line 2, column 8)" in refused(shell.run("config"))
