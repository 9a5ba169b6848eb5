"""Draws the pictures of the documents with Handrail's own code: `make pictures`."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from handrail.channels.terminal_card import CardText
from handrail.core.approval import Approval
from handrail.core.card import Card
from handrail.core.ids import ApprovalId, ExecutionId, ProjectId, SessionId, UserId
from handrail.core.ports import Channel
from handrail.testing import FakeHands, try_tool
from handrail.tools.builtin.write_file import WriteFile
from handrail.tui.app import HandrailApp
from handrail.tui.attention import Patience
from handrail.tui.line import Line, Told
from handrail.tui.show import fill
from handrail.tui.themes import DARK, LIGHT

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"

_WIDTH = 84
_LETTERS = 'ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono"'
_WAITED_SECONDS = 18
_CARDS = 4
_ASKED_AT = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)

_BEFORE = b"""\
[server]
host = "127.0.0.1"
retries = 3
verify_tls = true
"""
_PARAMS = {
    "path": "config.toml",
    "content": """\
[server]
host = "127.0.0.1"
retries = 5
verify_tls = false
""",
}

# Rich's own frame fetches its letters from elsewhere; these are whatever the reader's machine has.
_FRAME = """\
<svg viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>{title}</title>
<style>
.{{unique_id}}-matrix {{{{
  font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {{char_height}}px;
  line-height: {{line_height}}px;
}}}}
.{{unique_id}}-title {{{{ font: bold 18px sans-serif; }}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}" />
</clipPath>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})"
   clip-path="url(#{{unique_id}}-clip-terminal)">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""


def draw_card() -> str:
    """A card as the terminal shows it, for a write that does more than its agent claims."""
    card = asyncio.run(_ask())
    text = CardText(card, _WIDTH - 1)
    prompt = text.prompt(card.timeout_seconds - _WAITED_SECONDS)
    drawn = [*text.lines(), text.menu(unseen=text.is_cut), Text(prompt)]
    return _as_svg(drawn, title="handrail up", alt=f"{card.risk_level}: {card.description}")


async def _ask() -> Card:
    """The question that this write would come to, judged and looked at by the tool itself."""
    trial = await try_tool(WriteFile(), _PARAMS, FakeHands({"config.toml": _BEFORE}))
    seconds = trial.verdict.timeout_seconds
    return Card.of(
        Approval(
            id=ApprovalId("apr_1"),
            project_id=ProjectId("prj_1"),
            user_id=UserId("usr_1"),
            execution_id=ExecutionId("exe_1"),
            session_id=SessionId("flaky-tests"),
            agent_id="agt_019b78f1a3c04e5d2b7a",
            tool_name=WriteFile.name,
            tool_params=_PARAMS,
            reasoning="The tests are flaky; this only raises the number of retries.",
            description=trial.preview,
            risk_level=trial.verdict.risk,
            reasons=trial.verdict.reasons,
            digest="",
            surveyed=True,
            evidence=trial.survey.evidence,
            call_class=None,
            timeout_seconds=seconds,
            created_at=_ASKED_AT,
            expires_at=_ASKED_AT + timedelta(seconds=seconds),
        ),
        {"agt_019b78f1a3c04e5d2b7a": "Claude on my laptop"},
    )


def _as_svg(lines: list[Text], *, title: str, alt: str) -> str:
    console = Console(
        record=True,
        file=StringIO(),
        width=_WIDTH,
        force_terminal=True,
        color_system="standard",
        highlight=False,
        emoji=False,
    )
    for line in lines:
        console.print(line)
    frame = _FRAME.format(title=escape(alt))
    drawn = console.export_svg(title=title, theme=MONOKAI, code_format=frame, unique_id="card")
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


class Still(Line):
    """A line on which nothing moves, and where it is always the same time."""

    def __init__(self) -> None:
        self.address = "http://127.0.0.1:8000"

    def now(self) -> datetime:
        return _ASKED_AT + timedelta(seconds=_WAITED_SECONDS)

    async def machines(self) -> list[Told]:
        return [{"connected": True}]


def draw_terminal() -> str:
    """The screen of `handrail approvals watch`, with more than one card on it."""
    return asyncio.run(draw_screen((104, 28)))


async def draw_screen(size: tuple[int, int], *, light: bool = False) -> str:
    """The real app before a line that stands still, as the reader's machine can draw it."""
    app = HandrailApp(Still(), patience=Patience(deaf_seconds=0.0))

    async def listen(inbox: Channel, announce: Callable[[bool], None]) -> None:
        announce(True)
        card = await _ask()
        async with asyncio.TaskGroup() as group:
            for one in (card, *_others(card)):
                group.create_task(inbox.ask(one))

    async with asyncio.TaskGroup() as group:
        async with app.run_test(size=size) as pilot:
            app.theme = LIGHT.name if light else DARK.name
            filling = group.create_task(fill(app, listen))
            while len(app.inbox.cards()) < _CARDS or app.desk.shown is None:
                await pilot.pause(0.05)
            await pilot.pause(0.5)
            picture = app.export_screenshot(title="handrail approvals watch", simplify=True)
        filling.cancel()
    return _with_own_letters(picture, alt="What waits, and the card that is being decided")


def _others(card: Card) -> Iterator[Card]:
    asked = (
        ("MEDIUM", "Write 12 lines to src/retry.py", 31),
        ("CRITICAL", "Run git push --force origin main", 74),
        ("MEDIUM", "Run python3 -m pytest -q", 200),
    )
    for number, (risk, description, later) in enumerate(asked, start=2):
        yield replace(
            card,
            approval_id=f"apr_{number}",
            risk_level=risk,
            description=description,
            expires_at=card.expires_at + timedelta(seconds=later),
        )


def _with_own_letters(svg: str, *, alt: str) -> str:
    """Without the letters that Rich would fetch, with words for who cannot see it, and a name."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = svg.replace("Fira Code,", f"{_LETTERS},")
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.S)
    opening, rest = svg.split(">", 1)
    svg = f'{opening} role="img">\n<title>{escape(alt)}</title>{rest}'
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


PICTURE_BY_NAME = {"card.svg": draw_card, "terminal.svg": draw_terminal}

# How the screen looks in small and large terminals, for the tests alone: size, and whether light.
LOOKS = Path(__file__).parent.parent / "tests" / "tui" / "looks"
LOOK_BY_NAME = {
    f"{width}x{height}-{'light' if light else 'dark'}.svg": ((width, height), light)
    for width, height in ((80, 24), (120, 40))
    for light in (False, True)
}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, draw in PICTURE_BY_NAME.items():
        (PICTURES / name).write_text(draw(), encoding="utf-8")
        print(f"docs/pictures/{name}")
    LOOKS.mkdir(exist_ok=True)
    for name, (size, light) in LOOK_BY_NAME.items():
        drawn = asyncio.run(draw_screen(size, light=light))
        (LOOKS / name).write_text(drawn, encoding="utf-8")
        print(f"tests/tui/looks/{name}")


if __name__ == "__main__":
    main()
