"""What the terminal's screen shows: the line, what runs, what was, and nothing that acts."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from handrail.client.api import HandrailApi
from handrail.core.access import Role
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tui.app import HandrailApp
from handrail.tui.line import Line
from handrail.tui.lines import Lines
from handrail.tui.show import watching
from tests.conftest import Household
from tests.journeys.conftest import Rig
from tests.server.conftest import add_token, serving
from tests.tui.conftest import HASTY, Asking, Person, ended, sit_down, sitting

NOTES = {"path": "notes.md", "content": "hello\n"}
ENDLESS = "import time; time.sleep(60)"
MARKUP = "[bold red]BOLD[/] [@click=app.quit]go[/]"
HOSTILE = f"{MARKUP} \x1b[2J\x1b]0;title\x07 \u202egnp.exe \u200b|"


@pytest.mark.behaviour("terminal.restart")
async def test_after_a_restart_of_the_server_the_screen_goes_on(
    rig: Rig, person: Person, asks: Asking
) -> None:
    call = asks("write_file", NOTES)
    await person.sees("Create notes.md (1 line)")

    rig.kill(rig._processes[0])
    await person.sees("○ reconnecting")
    rig.start_server()
    await person.sees("● live")
    await person.press("a")

    assert (await ended(call))["status"] == "completed"
    await person.sees("Nothing waits for you")


@pytest.mark.behaviour("terminal.restart")
async def test_what_was_answered_while_the_line_was_down_is_not_left_on_the_screen(
    rig: Rig, person: Person, asks: Asking
) -> None:
    asks("write_file", NOTES)
    await person.sees("Create notes.md (1 line)")
    card = await rig.question()

    rig.kill(rig._processes[0])
    await person.sees("○ reconnecting")
    rig.start_server()
    await rig.as_person(lambda api: api.reject(card.approval_id, channel="elsewhere"))

    await person.sees("refused it, from elsewhere at ")


@pytest.mark.behaviour("terminal.inert")
async def test_what_others_write_is_shown_as_text_and_does_nothing(rig: Rig, asks: Asking) -> None:
    rig.start_server()
    rig.start_client()
    call = asks(
        "write_file",
        {"path": "[bold]notes[/].md", "content": f"{HOSTILE}\n"},
        reasoning=HOSTILE,
    )

    async with sit_down(rig, size=(220, 40)) as person:
        await person.sees("Create [bold]notes[/].md (1 line)")
        shown = person.screen_text
        inert = f"{MARKUP} \\x1b[2J\\x1b]0;title\\x07 \\u{{202e}}gnp.exe \\u{{200b}}|"
        assert f"the agent claims: {inert}" in shown
        assert f"+{inert}" in shown
        assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(shown)

        await person.press("r")
        await person.sees("Refuse: why?")
        assert shown.count("[bold]notes[/].md") < person.screen_text.count("[bold]notes[/].md")
        await person.type("[red]no")
        assert (await ended(call))["error"].endswith(": [red]no")
        await person.press("3")
        await person.sees("refused ")
        assert "rejected" not in person.screen_text
        assert "[bold]notes[/].md" in person.screen_text


@pytest.mark.behaviour("terminal.many")
async def test_of_a_thousand_cards_the_one_that_is_looked_at_stays(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    async with serving(services) as address:
        agents = [await add_token(store, household, subject=f"agent-{n}") for n in range(10)]
        for token in agents[1:]:
            await ask_for(address, household, token, [("notes.md", "x\n")] * 100)
        await ask_for(address, household, agents[0], [("notes.md", "x\n")] * 99)
        async with sit_at(address, household) as person:
            await person.sees("1 waiting 999")
            for _ in range(50):
                await person.pilot.press("j")
            fifty_first = person.app.desk.shown
            assert fifty_first == person.app.desk._inbox.cards()[50]

            clock.advance(1)
            await ask_for(address, household, agents[0], [("last.md", "x\n")])
            await person.sees("1 waiting 1,000")
            assert person.app.desk.shown == fifty_first
            await person.press("r")
            await person.sees("Refuse: why?")
            await person.type("enough")
            await person.sees("1 waiting 999")
            person.app.desk.action_move(1_000)
            await person.sees("Write 1 line to last.md")


async def ask_for(
    address: str, household: Household, token: str, files: list[tuple[str, str]]
) -> None:
    async with HandrailApi(address, household.project.id, token) as api:
        for number, (path, content) in enumerate(files):
            await api.execute(
                "write_file",
                {"path": path, "content": content},
                session_id=f"session-{token[-6:]}-{number}-{path}",
                call_id=f"call-{token[-6:]}-{number}-{path}",
            )


@asynccontextmanager
async def sit_at(address: str, household: Household) -> AsyncGenerator[Person]:
    async with HandrailApi(address, household.project.id, household.secrets[Role.USER]) as api:
        app = HandrailApp(Line(api), patience=HASTY)
        async with sitting(app, watching(api)) as person:
            yield person


async def test_the_keys_are_listed_and_the_list_decides_nothing(
    person: Person, asks: Asking
) -> None:
    call = asks("write_file", NOTES)
    await person.sees("Create notes.md (1 line)")
    await person.press("?")
    await person.sees("approve calls like it; first shows what that covers")
    await person.press("a", "r", "escape")
    await person.until(lambda: "this list" not in person.screen_text)

    assert not call.done()
    await person.press("q")
    await person.until(lambda: not person.app.is_running, "the end")


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("terminal.calls")
@pytest.mark.usefixtures("needs_box")
async def test_what_runs_is_listed_and_its_run_can_be_stopped(person: Person, asks: Asking) -> None:
    call = asks("execute_command", {"command": "python3", "args": ["-c", ENDLESS]})
    await person.sees("▲ HIGH")
    await person.press("a")
    await person.sees("Type 'approve'")
    await person.type("approve")
    await person.press("2")
    await person.sees("executing")
    assert "python3" in person.screen_text
    await person.press("j", "x")
    await person.sees("All calls of session journey end")
    await person.press("y")

    assert (await ended(call))["status"] == "failed"
    await person.sees("Nothing here.")
    await person.press("3")
    await person.sees("failed")
    await person.sees("in session journey")


async def test_a_run_is_stopped_from_its_card(rig: Rig, person: Person, asks: Asking) -> None:
    call = asks("write_file", NOTES)
    await person.sees("Create notes.md (1 line)")
    await person.press("x")
    await person.sees("Stop the whole session?")
    await person.press("a")  # No answer to that.
    await person.press("y")

    assert (await ended(call))["status"] in ("rejected", "failed")
    await person.sees("Withdrawn before it was decided.")
    assert not (rig.workspace / "notes.md").exists()


async def test_it_counts_down_by_the_clock_of_the_server(
    services: Services, household: Household
) -> None:
    async with serving(services) as address:
        token = household.secrets[Role.AGENT]
        await ask_for(address, household, token, [("notes.md", "hello\n")])
        async with sit_at(address, household) as person:
            await person.sees("Write 1 line to notes.md")
            assert re.search(r"decide \(expires in (5:00|4:5\d)", person.bar)


async def test_a_narrow_terminal_shows_list_and_card_one_above_the_other(
    rig: Rig, asks: Asking
) -> None:
    rig.start_server()
    rig.start_client()
    async with sit_down(rig, size=(60, 20)) as person:
        call = asks("write_file", NOTES)
        await person.sees("Create notes.md (1 line)")
        card = person.app.desk.query_one("#card", Lines)
        assert card.region.x == 0
        assert card.region.width == 60
        await person.reads_to_the_end()
        await person.press("a")
        assert (await ended(call))["status"] == "completed"


async def test_a_wide_terminal_gives_the_list_the_room_that_its_titles_need(
    rig: Rig, asks: Asking
) -> None:
    rig.start_server()
    rig.start_client()
    async with sit_down(rig, size=(130, 40)) as person:
        rows = person.app.desk.query_one("#waiting-rows", Lines)
        asks("write_file", NOTES)
        await person.sees("Create notes.md (1 line)")
        assert rows.region.width < 50
        asks("write_file", {"path": "shop/a-folder/some-other-folder.md", "content": "x"}, "call-2")
        title = "Create shop/a-folder/some-other-folder.md (1 line)"
        await person.until(lambda: rows.region.width == 65, "half of the screen")
        await person.until(
            lambda: any(title[:40] in line[:65] for line in person.screen_text.splitlines()), title
        )
        card = person.app.desk.query_one("#card", Lines)
        assert (card.region.x, card.region.width) == (65, 65)


async def test_where_more_than_the_screen_ends_with_it_leaving_is_asked_about(rig: Rig) -> None:
    rig.start_server()
    known = rig.credentials
    async with HandrailApi(known.server, known.project_id, known.user_token) as api:
        app = HandrailApp(Line(api), patience=HASTY, ends_with_it="The client ends.")
        async with sitting(app, watching(api)) as person:
            await person.sees("● live")
            await person.press("q")
            await person.sees("The client ends.")
            await person.press("escape")
            await person.until(lambda: app.screen is app.desk, "the desk")
            assert app.is_running
            await person.press("q")
            await person.sees("The client ends.")
            await person.press("y")
            await person.until(lambda: app._exit, "the end")
