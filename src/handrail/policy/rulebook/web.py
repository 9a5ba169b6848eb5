"""The hosts that http_request may reach: the `[http]` table of the operator's file.

A project's file has no such table: an agent that can write it could send data to any host.
"""

from collections.abc import Mapping
from typing import Any, cast

from handrail.core.errors import BadInput, RuleError
from handrail.core.risk import Layer
from handrail.policy.network.hosts import NO_HOSTS, HostList
from handrail.policy.network.web_hosts import ANY_PUBLIC_HOST, WebHosts

_ALLOWED, _TRUSTED = "allowed_hosts", "trusted_hosts"


def read_web_hosts(document: Mapping[str, Any], source: str, layer: Layer) -> WebHosts:
    """The lists of one file.

    Raises:
        RuleError: The table is malformed, or stands in a project's file.
    """
    if "http" not in document:
        return ANY_PUBLIC_HOST
    table: object = document["http"]
    if layer is Layer.PROJECT:
        raise RuleError(f"{source}: [http]: hosts are named in the operator's file; leave it out")
    if not isinstance(table, dict):
        raise RuleError(f"{source}: hosts for http_request are written as one table, [http]")
    values = cast(dict[str, object], table)
    if unknown := sorted(set(values) - {_ALLOWED, _TRUSTED}):
        raise RuleError(
            f"{source}: [http]: unknown key {unknown[0]!r}; known: {_ALLOWED}, {_TRUSTED}"
        )
    try:
        return WebHosts(
            HostList.read(_texts(values, _ALLOWED, source)) if _ALLOWED in values else None,
            HostList.read(_texts(values, _TRUSTED, source), single=True)
            if _TRUSTED in values
            else NO_HOSTS,
        )
    except BadInput as error:
        raise RuleError(f"{source}: [http]: {error.message}") from error


def _texts(values: Mapping[str, object], key: str, source: str) -> list[str]:
    words = values[key]
    if not isinstance(words, list) or not all(
        isinstance(word, str) for word in cast(list[object], words)
    ):
        raise RuleError(f"{source}: [http]: {key} is a list of texts")
    return cast(list[str], words)
