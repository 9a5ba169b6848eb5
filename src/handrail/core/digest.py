"""One salted fingerprint through card, decision, signal and execution.

Parameters come as canonical JSON, which holds no line feed.
"""

import hmac

from handrail.core.audit import canonical
from handrail.core.tool import JsonObject
from handrail.core.verdict import Plan


def digest_request(salt: str, tool_name: str, params_json: str) -> str:
    """What was asked, so that the same call id with other words is noticed."""
    return _digest(salt, f"{tool_name}\n{params_json}")


def digest_call(
    salt: str, tool_name: str, params_json: str, plan: Plan, facts: JsonObject | None = None
) -> str:
    """What was judged, shown and approved: the words, the plan and the machine's facts."""
    # Without texts it is the digest that versions know which have none.
    texts = [plan.stdin] if plan.stdin else []
    seen = canonical([plan.paths, plan.argv, plan.hosts, plan.profiles, facts, *texts])
    return _digest(salt, f"{tool_name}\n{params_json}\n{seen}")


def digest_unmasked(salt: str, digest: str) -> str:
    """The digest that approves a masked question; it is given out only with the full text."""
    return _digest(salt, f"unmasked\n{digest}")


def _digest(salt: str, text: str) -> str:
    return hmac.digest(salt.encode(), text.encode(), "sha256").hex()
