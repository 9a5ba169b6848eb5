"""docs/reference/events.md: everything that is told on the stream."""

from inspect import getdoc

import msgspec

from handrail.wire import WIRE_VERSION
from handrail.wire.approvals import ApprovalView
from handrail.wire.chat import MessageView, RunView
from handrail.wire.events import EVENTS, ApprovalRequest, ChatMessage, ChatRun, ExecutionContext
from scripts.reference.page import code, page, paragraphs
from scripts.reference.schema import Schema, answer_table


def events_page() -> str:
    return page(
        "Events",
        "`GET /my/projects/{project_id}/chat/stream` is a stream of server-sent events, for a "
        "user's or a client's token. Each event has a number (`id`), a name (`event`) and JSON "
        "(`data`). A project's events are numbered without gaps. A listener gets only those that "
        "are for it, so the numbers on its stream can skip some: that is no sign of a loss. To "
        "resume, send the last number you received as `Last-Event-ID`; the stream continues after "
        "it. If events after that number are gone, `stream.reset` says so. A line `: ping` comes "
        "when there is nothing else to tell.",
        f"This is version {WIRE_VERSION} of the wire; client and server may differ by one minor.",
        *(_section(name, kind) for name, kind in EVENTS.items()),
        _section(ExecutionContext.__name__, ExecutionContext),
    )


def _section(name: str, kind: type) -> str:
    return "\n\n".join([f"## {name}", paragraphs(getdoc(kind) or ""), _fields(kind)])


_SHOWN_ELSEWHERE = {ChatMessage: MessageView, ChatRun: RunView}


def _fields(kind: type) -> str:
    if (same := _SHOWN_ELSEWHERE.get(kind)) is not None:
        return f"Every field of [{code(same.__name__)}](http.md#{same.__name__.lower()})."
    if kind is ApprovalRequest:
        # The rest is the same wherever a question is shown.
        link = f"Every field of [{code(ApprovalView.__name__)}](http.md#approvalview), and:"
        return f"{link}\n\n{_own_fields(kind, ApprovalRequest.model_json_schema(), {})}"
    schemas: Schema = msgspec.json.schema(kind)["$defs"]
    return _own_fields(kind, schemas[kind.__name__], schemas)


def _own_fields(kind: type, schema: Schema, schemas: Schema) -> str:
    """In the order in which they are sent; a schema may have them in that of the alphabet."""
    ordered = {name: schema["properties"][name] for name in kind.__annotations__}
    return answer_table(ordered, schemas, lambda name: f"[{code(name)}](#{name.lower()})")
