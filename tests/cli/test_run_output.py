"""What the model says cannot be taken for a line of Handrail's."""

import io
from typing import Any

from handrail.cli.run_output import Lines


async def heard(*events: tuple[str, dict[str, Any]]) -> list[str]:
    raw = io.BytesIO()
    screen = Lines(io.TextIOWrapper(raw, encoding="utf-8"), can_ask=True)
    for name, data in events:
        await screen.hear(name, data, data if name == "tool.status" else None)
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


async def test_a_failed_command_shows_its_exit_code_and_the_end_of_its_output() -> None:
    output = "".join(f"test {number}\n" for number in range(12)) + "1 failed\n[exit code 1]"
    call = {
        "status": "completed",
        "call_id": "run_1/use_1",
        "tool_name": "run_bash",
        "tool_params": {"command": "pytest -q"},
        "risk_level": "MEDIUM",
        "error": None,
        "error_type": None,
        "result": {"output": output, "exit_code": 1},
    }
    told = await heard(("tool.status", call))

    assert told[0] == "  ✗ run_bash pytest -q  exit 1  MEDIUM"
    assert told[1] == "    │ … 3 earlier lines"
    assert told[2:] == [f"    │ test {number}" for number in range(3, 12)] + ["    │ 1 failed"]
    fine = call | {"call_id": "run_1/use_2", "result": {"output": output, "exit_code": 0}}
    assert await heard(("tool.status", fine)) == ["  · run_bash pytest -q  completed  MEDIUM"]
