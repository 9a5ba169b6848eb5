"""What schemathesis is told before each of its requests: not to wait where one could for long."""

from typing import Any

import schemathesis

_MOST_WAIT = 0.05


@schemathesis.hook
def before_call(
    context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]
) -> None:
    """A stream never ends, so it shall have something to tell; and nobody waits for an hour."""
    if case.path.endswith("/chat/stream"):
        case.headers.setdefault("Last-Event-ID", "0")
    body: Any = case.body
    wait: Any = body.get("wait") if isinstance(body, dict) else None
    if type(wait) in (int, float) and _MOST_WAIT < wait <= 3600:
        body["wait"] = _MOST_WAIT
