"""`handrail console`: a browser is opened and signed in, and no other user can see the link."""

import json
import os
import signal
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from handrail.app.sign_in_page import PAGE_SECONDS
from tests.cli.conftest import Shell, ended_well, refused
from tests.forge import Forged
from tests.terminal import Terminal

BROWSER = Path(__file__).with_name("browser.py")


@pytest.fixture
def served(shell: Shell) -> Shell:
    """A home with a server, on a machine with a screen and a browser."""
    shell.environment |= {
        "DISPLAY": ":0",
        "BROWSER": f"{sys.executable} {BROWSER} {shell.home.parent / 'opened'} %s",
    }
    shell.environment.pop("WAYLAND_DISPLAY", None)
    shell.start_up()
    return shell


def opened(shell: Shell) -> list[dict[str, Any]]:
    file = shell.home.parent / "opened"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def pages(shell: Shell) -> list[Path]:
    return list((shell.home / "browser").glob("*"))


def test_the_browser_is_given_a_file_of_ones_own_and_is_signed_in_by_it(served: Shell) -> None:
    said = ended_well(served.run("console"))

    (one,) = opened(served)
    assert one["argv"][-1].startswith(f"file://{served.home}/browser/")
    assert "hr_" not in json.dumps(one["argv"])
    assert one["modes"] == [0o600, 0o700]
    assert pages(served) == []
    tokens = json.loads(ended_well(served.run("token", "list", "--json")))["tokens"]
    (token,) = [one for one in tokens if one["name"] == "console"]
    assert said.splitlines() == [
        "Opening the console in your browser.",
        "Signed in from 127.0.0.1 by a test's browser.",
        f"If that was not you: handrail token revoke {token['token_id'][-8:]}",
    ]


def test_at_a_terminal_the_link_is_shown_for_a_browser_that_cannot_read_the_file(
    served: Shell,
) -> None:
    with Terminal("console", cwd=served.workspace, env=served.environment) as terminal:
        terminal.expect("/#hr_user_")
        terminal.expect("Signed in")
        assert terminal.wait() == 0


def test_without_a_terminal_the_link_is_printed_only_on_request(served: Shell) -> None:
    del served.environment["DISPLAY"]

    nowhere = refused(served.run("console"))
    printed = ended_well(served.run("console", "--no-open"))
    as_json = json.loads(ended_well(served.run("console", "--json")))

    assert "--no-open prints the sign-in link" in nowhere
    assert "/#hr_user_" in printed
    assert "/#hr_user_" in as_json["address"]
    assert opened(served) == []


def test_a_browser_that_does_not_start_leaves_no_page(served: Shell, tmp_path: Path) -> None:
    done = served.run("console", BROWSER="/bin/false %s", PATH=str(tmp_path))

    assert (done.returncode, done.stderr) == (
        1,
        "handrail: no browser could be started; --no-open prints a link that you can open "
        "yourself\n",
    )
    assert pages(served) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whoever_ends_the_command_early_ends_its_page(served: Shell, number: int) -> None:
    environment = served.environment | {"BROWSER": "/bin/sleep 60 %s &"}
    process = Forged("console", environment=environment, folder=served.workspace, apart=True)
    for line in process.stdout:
        if "Opening" in line:
            break
    assert len(pages(served)) == 1

    process.send_signal(number)
    process.communicate(timeout=20)

    assert pages(served) == []


def test_a_page_that_was_left_behind_is_removed_by_the_next_command_and_the_next_server(
    served: Shell,
) -> None:
    def leave() -> None:
        left = served.home / "browser" / "left.html"
        left.parent.mkdir(mode=0o700, exist_ok=True)
        left.write_text("hr_user_old")
        long_ago = time.time() - 3 * PAGE_SECONDS
        os.utime(left, (long_ago, long_ago))

    leave()
    ended_well(served.run("console"))
    after_command = pages(served)
    served.stop_all()
    leave()
    served.start_up()

    assert (after_command, pages(served)) == ([], [])


def test_a_page_of_another_command_that_still_runs_is_left_alone(served: Shell) -> None:
    other = served.home / "browser" / "other.html"
    other.parent.mkdir(mode=0o700)
    other.write_text("hr_user_new")

    ended_well(served.run("console"))

    assert pages(served) == [other]
    assert stat.S_IMODE(other.parent.stat().st_mode) == 0o700
