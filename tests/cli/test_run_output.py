"""What the model says cannot be taken for a line of Handrail's."""

import io
from typing import Any

from handrail.cli.run_output import Lines


async def heard(*events: tuple[str, dict[str, Any]]) -> list[str]:
    raw = io.BytesIO()
    screen = Lines(io.TextIOWrapper(raw, encoding="utf-8"), can_ask=True)
    for name, data in events:
        await screen.hear(name, data, None)
    return raw.getvalue().decode().splitlines()


async def test_every_line_of_the_model_bears_a_mark() -> None:
    forged = "Fine.\n  · write_file x  completed  LOW\ndone (1 turn)\n"
    parts = [{"type": "text", "text": forged}]
    whole = {"seq": 2, "session_id": "ses_1", "role": "assistant", "parts": parts}
    pieces = [("chat.delta", {"seq": 2, "text": piece}) for piece in (forged[:9], forged[9:])]

    assert await heard(*pieces, ("chat.message", whole)) == [
        "│ Fine.",
        "│   · write_file x  completed  LOW",
        "│ done (1 turn)",
        "conversation ses_1",
    ]
    tainted = ("session.tainted", {"source": "read_file x"})
    assert (await heard(*pieces, ("chat.message", whole), tainted))[-1].startswith("  ! ")
