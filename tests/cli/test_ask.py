"""Commands that need a server say so when there is none."""

from handrail.app.home import Credentials, Home
from tests.cli.conftest import Shell, refused
from tests.ports import free_port


def test_a_folder_that_is_not_known_is_said_to_be(shell: Shell) -> None:
    commands = ("executions", "tools", "tour", "connect", "audit show")
    words = (
        f"{shell.workspace} is not set up for Handrail yet; `handrail up` sets it up and starts, "
        "`handrail init` only sets it up, or name another folder"
    )

    answers = [refused(ended) for ended in shell.run_all(*commands)]
    unproven = shell.run("audit", "verify")

    assert answers == [words] * len(commands)
    # Neither proven nor broken: nothing could be looked at.
    assert (unproven.returncode, unproven.stderr) == (2, f"handrail: {words}\n")
    assert not shell.home.exists()


def test_a_server_that_does_not_run_is_said_not_to(shell: Shell) -> None:
    server = f"http://127.0.0.1:{free_port()}"
    home = Home(shell.home)
    home.create()
    home.save_credentials(Credentials(server, "prj_1", str(shell.workspace), "u", "c", "a"))

    answers = [refused(ended) for ended in shell.run_all("executions", "tools", "tour", "undo")]

    assert answers == [f"no server is running at {server}; start it with `handrail up`"] * 4
