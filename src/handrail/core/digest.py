"""One salted fingerprint through card, decision, signal and execution."""

import hashlib
import hmac
from dataclasses import asdict

from handrail.core.audit import canonical
from handrail.core.tool import JsonObject
from handrail.core.verdict import Plan


def digest_request(salt: str, tool_name: str, tool_params: JsonObject) -> str:
    """What was asked, so that the same call id with other words is noticed."""
    return _digest(salt, [tool_name, tool_params])


def digest_call(
    salt: str, tool_name: str, tool_params: JsonObject, plan: Plan, facts: JsonObject | None = None
) -> str:
    """What was judged, shown and approved: the words, the plan and the machine's facts."""
    return _digest(salt, [tool_name, tool_params, asdict(plan), facts])


def _digest(salt: str, value: object) -> str:
    return hmac.digest(salt.encode(), canonical(value).encode(), hashlib.sha256).hex()
