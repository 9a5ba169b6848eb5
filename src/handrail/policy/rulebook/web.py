"""The hosts that http_request may reach: the `[http]` table of the operator's file.

Nothing in a workspace has a say in it: whoever could name the hosts could carry things out to them.
"""

from collections.abc import Mapping
from typing import Any, cast

from handrail.core.errors import BadInput, RuleError
from handrail.core.risk import Layer
from handrail.policy.validators.hosts import HostList
from handrail.policy.validators.web_hosts import ANY_PUBLIC_HOST, WebHosts

_KEY = "allowed_hosts"


def read_web_hosts(document: Mapping[str, Any], source: str, layer: Layer) -> WebHosts:
    """What one file says of them.

    Raises:
        RuleError: It says what nobody knows, or is a project's, which may not say it.
    """
    if "http" not in document:
        return ANY_PUBLIC_HOST
    table: object = document["http"]
    if layer is Layer.PROJECT:
        raise RuleError(f"{source}: [http]: hosts are named in the operator's file; leave it out")
    if not isinstance(table, dict):
        raise RuleError(f"{source}: hosts for http_request are written as one table, [http]")
    values = cast(dict[str, object], table)
    if unknown := sorted(set(values) - {_KEY}):
        raise RuleError(f"{source}: [http]: unknown key {unknown[0]!r}; known: {_KEY}")
    words = values.get(_KEY)
    if words is None:
        return ANY_PUBLIC_HOST
    if not isinstance(words, list) or not all(
        isinstance(word, str) for word in cast(list[object], words)
    ):
        raise RuleError(f"{source}: [http]: {_KEY} is a list of texts")
    try:
        return WebHosts(HostList.read(cast(list[str], words)))
    except BadInput as error:
        raise RuleError(f"{source}: [http]: {error.message}") from error
