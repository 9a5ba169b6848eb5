"""`handrail connect` at a terminal: its person reads sentences there, and no log."""

from tests.cli.conftest import Shell
from tests.terminal import Terminal


def test_a_policy_file_that_breaks_is_told_in_one_sentence_and_logged_elsewhere(
    shell: Shell,
) -> None:
    shell.start("serve", "--port", "0", until="Connect this machine")
    policy = shell.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir()

    with Terminal(
        "connect", "--plain", ".", cwd=shell.workspace, env=shell.environment
    ) as terminal:
        terminal.expect("connected to")
        policy.write_text("[policy]\nautonomy = \n")
        terminal.expect(".handrail/policy.toml: not valid TOML")
        terminal.expect("line 2")
        terminal.expect("The previous rules stay in force; fix the file, and check")
        terminal.interrupt()

    assert "policy.broken" not in terminal.shown
    assert "policy.broken" in (shell.home / "handrail.log").read_text()
