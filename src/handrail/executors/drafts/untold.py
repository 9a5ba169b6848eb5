"""What a session's agent is still to be told about its draft: steps that were removed under it.

It is told with its next result. It lies on disk, so that it is told also after a restart.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handrail.core.draft import DraftStep
from handrail.core.visible import cut, visible

_FILE, _NEW = "untold.json", "untold.new"
_MOST_NAMED = 10
_MOST_TITLE_CHARS = 80


def note_removed(folder: Path, steps: Sequence[DraftStep], why: str) -> None:
    """Keep the words about steps that are no longer in the draft; `why` is a sentence."""
    titles = [f"{one.number} ({cut(visible(one.title), _MOST_TITLE_CHARS)})" for one in steps]
    named = ", ".join(titles[:_MOST_NAMED])
    more = f" and {len(titles) - _MOST_NAMED:,} more" if len(titles) > _MOST_NAMED else ""
    words = f"[Handrail] {why}. No longer in the draft: step {named}{more}."
    told = _read(folder)
    earlier: list[str] = [] if told.get("with") else told.get("words", [])
    _write(folder, {"words": [*earlier, words]})


def take_note(folder: Path, tool_id: str) -> str:
    """What is to be told with the result of this call; the same again if it is asked for again."""
    told = _read(folder)
    if not told:
        return ""
    if told.get("with") not in (None, tool_id):
        # The result that it was told with has arrived: its agent asks for the next call.
        (folder / _FILE).unlink(missing_ok=True)
        return ""
    _write(folder, {**told, "with": tool_id})
    return "\n".join(told["words"])


def _write(folder: Path, told: dict[str, Any]) -> None:
    aside = folder / _NEW
    aside.write_text(json.dumps(told), encoding="utf-8")
    aside.rename(folder / _FILE)


def _read(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / _FILE).read_bytes())
    except (OSError, ValueError):
        return {}
