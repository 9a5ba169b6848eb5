"""The screens of `approvals watch`, `connect` and `up --tui`, each in a real terminal."""

from pathlib import Path

import pytest

from tests.cli.conftest import refused
from tests.cli.test_approvals import Office
from tests.cli.test_approvals import office as office
from tests.terminal import Terminal

OPENED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"


def sit_down(office: Office, *words: str, kind: str = "xterm-256color", **more: str) -> Terminal:
    return Terminal(*words, cwd=office.workspace, env=office.environment | more, kind=kind)


@pytest.mark.behaviour("terminal.opens")
def test_who_watches_sees_a_screen_decides_there_and_leaves_the_terminal_as_it_was(
    office: Office,
) -> None:
    with sit_down(office, "approvals", "watch") as terminal:
        terminal.expect("Nothing waits for you")
        assert OPENED in terminal.raw
        office.ask_for("src/one.py")
        terminal.expect("Create src/one.py (1 line)")
        terminal.expect("expires in")
        terminal.type("a", after_seconds=1.5)
        assert office.become_of("src/one.py")["status"] == "completed"
        terminal.type("q")
        assert terminal.wait() == 0

    assert LEFT in terminal.raw
    assert "Traceback" not in terminal.shown


@pytest.mark.behaviour("terminal.opens")
def test_server_and_client_run_beside_the_screen_and_stop_with_it(tmp_path: Path) -> None:
    office = Office(tmp_path)
    with sit_down(office, "up", "--tui", "--port", "0") as terminal:
        terminal.expect("1 machine connected")
        office.ask_for("src/one.py")
        terminal.expect("Create src/one.py (1 line)")
        terminal.expect("expires in")
        terminal.type("a", after_seconds=1.5)
        assert office.become_of("src/one.py")["status"] == "completed"
        terminal.type("q", after_seconds=1.5)
        terminal.expect("This also stops the server")
        terminal.type("y", after_seconds=1.5)
        terminal.expect("Handrail has stopped.")
        assert terminal.wait() == 0

    assert (office.workspace / "src/one.py").read_text() == "pass\n"
    assert terminal.raw.rfind(LEFT) < terminal.raw.find(b"Handrail has stopped.")


@pytest.mark.behaviour("terminal.opens")
def test_a_client_works_beside_its_screen_and_tells_there_what_it_has_to_tell(
    tmp_path: Path,
) -> None:
    office = Office(tmp_path)
    office.start("serve", "--port", "0", until="Connect this machine")
    policy = office.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir()
    try:
        with sit_down(office, "connect", ".") as terminal:
            terminal.expect("1 machine connected")
            policy.write_text("[policy]\nautonomy = \n")
            terminal.expect("not valid TOML")
            office.ask_for("src/one.py")
            terminal.expect("Create src/one.py (1 line)")
            terminal.expect("expires in")
            terminal.type("a", after_seconds=1.5)
            assert office.become_of("src/one.py")["status"] == "completed"
            terminal.end()
            terminal.expect("Disconnected.")
            assert terminal.wait() == 0
    finally:
        office.stop_all()

    assert LEFT in terminal.raw


def test_what_keeps_a_client_from_starting_is_told_behind_the_screen(office: Office) -> None:
    with sit_down(office, "connect", ".") as terminal:
        assert terminal.wait() == 1

    assert "handrail: " in terminal.shown
    assert terminal.raw.rfind(LEFT) < terminal.raw.find(b"handrail: ")
    assert "Traceback" not in terminal.shown


def test_a_screen_that_was_asked_for_and_cannot_be_drawn_is_refused(office: Office) -> None:
    line = refused(office.run("up", "--tui"))

    assert line == "this terminal cannot draw a screen; start without --tui"


@pytest.mark.parametrize(
    ("words", "kind"), [(["--plain"], "xterm-256color"), ([], "vt100")], ids=["wanted", "needed"]
)
def test_where_no_screen_is_wanted_or_can_be_drawn_cards_come_as_lines(
    office: Office, words: list[str], kind: str
) -> None:
    with sit_down(office, "approvals", "watch", *words, kind=kind) as terminal:
        terminal.expect("Waiting for questions")
        terminal.interrupt()

    assert OPENED not in terminal.raw


def test_who_wants_no_colours_has_a_screen_all_the_same(office: Office) -> None:
    with sit_down(office, "approvals", "watch", NO_COLOR="1") as terminal:
        terminal.expect("Nothing waits for you")
        terminal.type("q")
        assert terminal.wait() == 0


@pytest.mark.parametrize("ending", ["told", "interrupted"])
def test_who_is_told_to_end_leaves_the_terminal_as_it_was(office: Office, ending: str) -> None:
    with sit_down(office, "approvals", "watch") as terminal:
        terminal.expect("Nothing waits for you")
        if ending == "told":
            terminal.end()
            terminal.wait()
        else:
            terminal.interrupt()

    assert LEFT in terminal.raw
    assert "Traceback" not in terminal.shown
