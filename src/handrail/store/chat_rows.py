"""Conversations as rows, and back."""

import json
from dataclasses import fields
from typing import Any

from handrail.core.conversation import (
    Notice,
    Opaque,
    Part,
    Speaker,
    Summary,
    Text,
    ToolAnswer,
    ToolUse,
    Utterance,
)
from handrail.core.model import Usage
from handrail.core.run import Message, Run, RunStatus, Talk
from handrail.store.rows import Row, from_micros, micros_or_none, moment_or_none, to_micros

_KINDS: dict[str, type[Part]] = {
    "text": Text,
    "tool_use": ToolUse,
    "tool_answer": ToolAnswer,
    "opaque": Opaque,
    "summary": Summary,
    "notice": Notice,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_TITLE_CHARS = 80


def run_row(run: Run) -> dict[str, Any]:
    row = {field.name: getattr(run, field.name) for field in fields(run)}
    row["created_at"] = to_micros(run.created_at)
    return row | moving_run_row(run)


def moving_run_row(run: Run) -> dict[str, Any]:
    """The columns that change over the life of a run."""
    return {
        "status": run.status,
        "epoch": run.epoch,
        "owner": run.owner,
        "leased_until": micros_or_none(run.leased_until),
        "ended_at": micros_or_none(run.ended_at),
        "error": run.error,
    }


def read_run(row: Row) -> Run:
    values = dict(zip((field.name for field in fields(Run)), row, strict=True))
    values["status"] = RunStatus(values["status"])
    values["created_at"] = from_micros(values["created_at"])
    for name in ("leased_until", "ended_at"):
        values[name] = moment_or_none(values[name])
    return Run(**values)


def message_row(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "project_id": message.project_id,
        "session_id": message.session_id,
        "run_id": message.run_id,
        "seq": message.seq,
        "at": to_micros(message.at),
        "speaker": message.utterance.speaker,
        # Escaped: a model may cut a character in half, which UTF-8 cannot hold.
        "parts": json.dumps([_as_json(part) for part in message.utterance.parts]),
        "model": message.model,
        "usage": None if message.usage is None else json.dumps(message.usage),
    }


def read_message(row: Row) -> Message:
    message_id, project_id, session_id, run_id, seq, at, speaker, parts, model, usage = row
    return Message(
        message_id,
        project_id,
        session_id,
        run_id,
        seq,
        from_micros(at),
        Utterance(Speaker(speaker), read_parts(parts)),
        model,
        None if usage is None else Usage(*json.loads(usage)),
    )


def read_parts(text: str) -> tuple[Part, ...]:
    return tuple(_from_json(part) for part in json.loads(text))


def read_talk(row: Row) -> Talk:
    session_id, parts, created_at, last_at, status = row
    title = " ".join(Utterance(Speaker.USER, read_parts(parts)).text.split())
    return Talk(
        session_id,
        title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…",
        from_micros(created_at),
        from_micros(last_at),
        RunStatus(status),
    )


def _as_json(part: Part) -> dict[str, Any]:
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {"type": _NAMES[type(part)], **values}


def _from_json(value: dict[str, Any]) -> Part:
    return _KINDS[value.pop("type")](**value)
