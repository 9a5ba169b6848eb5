"""What `handrail run` shows: lines for a person, or events for a program."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TextIO

from handrail.cli.ids import short
from handrail.cli.output import in_short, many
from handrail.client.exit_codes import failed_exit
from handrail.client.following import Outcome
from handrail.core.execution import FINAL
from handrail.core.visible import cut, visible

Told = dict[str, Any]

_ENDED = {str(status) for status in FINAL}
_MOST_ERROR_CHARS = 160
_MOST_OUTPUT_LINES = 10
# Takes away the line in which a card counts down; it is drawn anew below.
_CLEAR = "\r\x1b[2K"
_DIM, _RED, _PLAIN = "\x1b[2m", "\x1b[31m", "\x1b[0m"
_SAYS = "│ "
# What a call is about, where it says so.
_SUBJECTS = ("path", "command", "pattern", "url", "action", "name", "key", "query")


_NO_ANSWER = "Approval timeout"
# How a call has ended that was not done, by its status and the kind of its failure.
_ENDINGS = {
    "rejected": "refused",
    "timeout": "timed out",
    "denied": "refused",
    "too_many_questions": "refused",
    "validation": "invalid",
    "cancelled": "cancelled",
    "outcome_unknown": "outcome unknown",
}


class Screen(Protocol):
    """Hears what happens in a run, and how it has come out.

    Before it, what was `left` by others: the conversations in which a run goes on.
    """

    async def left(self, talks: Sequence[Told]) -> None: ...

    async def hear(self, name: str, data: Told, call: Told | None) -> None: ...

    async def end(self, outcome: Outcome) -> None: ...


class EventLines:
    """Every event as a line of JSON, and the end as the last one.

    That nobody can be asked is said `beside` them, once. What has become of a call stands with its
    last status.
    """

    def __init__(self, out: TextIO, beside: TextIO):
        self._out = out
        self._beside = beside
        self._has_said_so = False

    async def hear(self, name: str, data: Told, call: Told | None) -> None:
        more = {}
        if call is not None and _has_ended(call):
            more = {key: call[key] for key in ("error", "error_type", "risk_level")}
        await self._put({"event": name, **data, **more})
        if name == "tool.approval_request" and not self._has_said_so:
            self._has_said_so = True
            await asyncio.to_thread(_write, self._beside, f"{visible(_no_terminal(data))}\n")

    async def left(self, talks: Sequence[Told]) -> None:
        for talk in talks:
            await asyncio.to_thread(_write, self._beside, f"{visible(_goes_on(talk))}\n")

    async def end(self, outcome: Outcome) -> None:
        await self._put(
            {
                "event": "end",
                "status": outcome.status,
                "answer": outcome.answer,
                "error": outcome.error,
                "tokens": outcome.tokens,
                "run_id": outcome.run_id,
                "session_id": outcome.session_id,
            }
        )

    async def _put(self, line: Told) -> None:
        await asyncio.to_thread(_write, self._out, json.dumps(line) + "\n")


class Lines:
    """What a person reads: what the agent says, as it says it, and a line for each call.

    With an `out` of its own for the answer, all the rest is said beside it.
    """

    def __init__(self, beside: TextIO, out: TextIO | None = None, *, can_ask: bool):
        self._beside = beside
        self._out = out
        self._at_terminal = beside.isatty() and os.environ.get("TERM") != "dumb"
        self._can_ask = can_ask
        self._shown = ""
        self._shown_seq = 0
        self._uses: dict[str, Told] = {}
        self._told: set[str] = set()
        self._session: str | None = None
        self._begins_line = True

    async def hear(self, name: str, data: Told, call: Told | None) -> None:
        match name:
            case "chat.delta":
                await self._piece(data)
            case "chat.message":
                await self._message(data)
            case "tool.approval_request" if not self._can_ask:
                await self._cannot_ask(data)
            case "tool.status" | "approval.resolved" if _has_ended(call):
                await self._call(call or {})
            case "session.tainted":
                await self._line(
                    f"  ! the result of {data['source']} contains text that looks like "
                    "instructions "
                    "to the agent; this session is no longer trusted"
                )
            case _:
                pass

    async def end(self, outcome: Outcome) -> None:
        if self._out is not None and outcome.answer:
            answer = visible(outcome.answer.rstrip("\n"), keep="\n\t")
            await asyncio.to_thread(_write, self._out, f"{answer}\n")
        took = f"{many(outcome.turns, 'turn')}, {many(outcome.calls, 'call')}"
        why = f": {outcome.error}" if outcome.error else ""
        await self._line(f"{outcome.status}{why} ({took}, {many(outcome.tokens, 'token')})")
        if outcome.status != "done":
            await self._line(f"continue with: handrail run --session {outcome.session_id} …")

    async def _piece(self, data: Told) -> None:
        if self._out is not None:
            return
        if data["seq"] != self._shown_seq:
            self._shown, self._shown_seq = "", data["seq"]
        self._shown += data["text"]
        await self._put(self._marked(visible(data["text"], keep="\n\t")))

    async def left(self, talks: Sequence[Told]) -> None:
        for talk in talks:
            await self._line(f"  ! {_goes_on(talk)}")

    async def _message(self, message: Told) -> None:
        if self._session is None:
            # Said at once: whatever happens to this process, it can be found again.
            self._session = message["session_id"]
            await self._line(f"conversation {self._session}")
        for part in message["parts"]:
            if part["type"] == "tool_use":
                self._uses[part["tool_use_id"]] = part
            elif part["type"] == "tool_answer":
                await self._answered(part)
            elif part["type"] == "notice":
                await self._line(f"  ! {part['text']}")
        if message["role"] == "assistant":
            await self._whole(message)

    async def _whole(self, message: Told) -> None:
        """What has not been seen piece by piece."""
        parts: list[Told] = message["parts"]
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        if self._out is not None and not any(part["type"] == "tool_use" for part in parts):
            return  # It may be the answer.
        shown = self._shown if self._shown_seq == message["seq"] else ""
        self._shown, self._shown_seq = "", 0
        if not text.startswith(shown):
            shown, text = "", f"\n{text}"
        rest = visible(text[len(shown) :], keep="\n\t")
        if text.strip():
            await self._put(self._marked(rest) + ("" if text.endswith("\n") else "\n"))
        self._begins_line = True

    def _marked(self, said: str) -> str:
        """What the model says, each line with a mark, so that none can pass for one of ours."""
        marked = ""
        for line in said.splitlines(keepends=True):
            marked += f"{_SAYS}{line}" if self._begins_line else line
            self._begins_line = line.endswith("\n")
        return marked

    async def _call(self, call: Told) -> None:
        use_id = str(call["call_id"]).rpartition("/")[2]
        if use_id in self._told:
            return
        self._told.add(use_id)
        what = f"{call['tool_name']} {_subject(call['tool_params'])}".rstrip()
        mark, ending = _ending(call)
        # What could not be understood was not judged either.
        risk = "" if call["error_type"] == "validation" else f"  {call['risk_level']}"
        await self._line(f"  {mark} {what}  {ending}{risk}", _DIM if mark == "·" else _RED)
        for line in _failed_output(call):
            await self._line(f"    {_SAYS}{line}")

    async def _answered(self, part: Told) -> None:
        """Only of what was never a call, or whose end was not heard of."""
        use = self._uses.get(part["tool_use_id"])
        if use is None or part["tool_use_id"] in self._told:
            return
        self._told.add(part["tool_use_id"])
        what = f"{use['name']} {_subject(use['input'] or {})}".rstrip()
        if part["is_error"]:
            why = (part["text"] or "").partition("\n")[0]
            await self._line(f"  ✗ {what}  {in_short(why, _MOST_ERROR_CHARS)}")
        else:
            await self._line(f"  · {what}  done")

    async def _cannot_ask(self, card: Told) -> None:
        self._can_ask = True
        await self._line(f"  ? {_no_terminal(card)}")

    async def _line(self, words: str, style: str = _DIM) -> None:
        text = visible(words)
        if self._at_terminal:
            text = f"{_CLEAR}{style}{text}{_PLAIN}"
        await self._put(f"{text}\n")

    async def _put(self, text: str) -> None:
        await asyncio.to_thread(_write, self._beside, text)


def _write(file: TextIO, text: str) -> None:
    # A letter that is not to be had there must not end the program.
    file.write(text.encode(file.encoding, "backslashreplace").decode(file.encoding))
    file.flush()


def _no_terminal(card: Told) -> str:
    return (
        f"a call waits for approval, and there is no terminal to ask at: {card['description']}. "
        "Answer it with `handrail approvals watch` in another terminal; without an answer in time "
        "the call is refused"
    )


def _has_ended(call: Told | None) -> bool:
    """What a person refuses has ended with that: no other status follows."""
    return call is not None and call["status"] in _ENDED


def _ending(call: Told) -> tuple[str, str]:
    """A mark, and in what way a call has ended, with the reason."""
    if call["status"] == "completed":
        code = failed_exit(call)
        return ("·", "completed") if code is None else ("✗", f"exit {code}")
    name, by_person, reason = (call["error"] or "").partition(" refused this call")
    if call["status"] == "rejected" and by_person:
        return "✗", f"refused by {name}{in_short(reason, _MOST_ERROR_CHARS)}"
    if call["status"] == "timeout" and call["error"] == _NO_ANSWER:
        return "✗", "timed out: no answer in time"
    ended = _ENDINGS.get(call["error_type"] or call["status"], "failed")
    return "✗", f"{ended}: {in_short(call['error'], _MOST_ERROR_CHARS)}" if call["error"] else ended


def _failed_output(call: Told) -> list[str]:
    """The last lines that a failed command printed; the exit code has been shown already."""
    code = failed_exit(call)
    if code is None:
        return []
    result: Told = call["result"] or {}
    lines = str(result.get("output") or "").splitlines()
    lines = [line for line in lines if line.strip() and line != f"[exit code {code}]"]
    hidden = len(lines) - _MOST_OUTPUT_LINES
    tail = [cut(line, _MOST_ERROR_CHARS) for line in lines[-_MOST_OUTPUT_LINES:]]
    return [f"… {many(hidden, 'earlier line')}", *tail] if hidden > 0 else tail


def _goes_on(talk: Told) -> str:
    return (
        f"another run is still going: “{in_short(talk['title'])}”. See it with `handrail chat show "
        f"{short(talk['session_id'])}`, and its questions with `handrail approvals watch`"
    )


def _subject(params: Mapping[str, Any]) -> str:
    named = [str(params[name]) for name in _SUBJECTS if params.get(name)]
    words = [*named[:1], *map(str, params.get("args") or ())]
    return in_short(" ".join(words))
