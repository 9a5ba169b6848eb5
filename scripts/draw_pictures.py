"""Draws the pictures of the documents with Handrail's own code: `make pictures`."""

import asyncio
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
from handrail.testing import FakeHands, try_tool
from handrail.tools.builtin.write_file import WriteFile

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"

_WIDTH = 84
_WAITED_SECONDS = 18
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
        )
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


PICTURE_BY_NAME = {"card.svg": draw_card}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, draw in PICTURE_BY_NAME.items():
        (PICTURES / name).write_text(draw(), encoding="utf-8")
        print(f"docs/pictures/{name}")


if __name__ == "__main__":
    main()
