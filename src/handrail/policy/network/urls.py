"""URLs as words: what exactly would be asked, and of whom?

They are read here once, strictly, and nobody else reads them again: where two readers differ, a
request goes elsewhere than was judged. What could be read in two ways is refused.
"""

import re
import string
from dataclasses import dataclass
from urllib.parse import quote

from handrail.core.risk import Finding, forbidden
from handrail.core.visible import cut, visible
from handrail.policy.network.hosts import Host, read_host

MAX_URL_CHARS = 8_000

_SHOWN_CHARS = 100
_PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,40}):(//)?([^/?#]*)([^#]*)(?:#.*)?")
# All but the characters beyond ASCII, which become escapes.
_AS_IT_IS = string.punctuation


@dataclass(frozen=True, slots=True)
class WebAddress:
    """One thing of the web: `host` has its port, `target` is what the host is asked for."""

    scheme: str
    host: Host
    target: str

    @property
    def authority(self) -> str:
        """The host as it stands in a URL: without the port where that goes without saying."""
        usual = self.host.port == _PORTS[self.scheme]
        return str(Host(self.host.name) if usual else self.host)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def read_url(text: str) -> WebAddress | Finding:
    """What a URL means, or what is wrong with it."""
    if len(text) > MAX_URL_CHARS:
        return _bad(f"the URL is {len(text):,} characters, more than {MAX_URL_CHARS:,}")
    if (why := _what_is_unseen(text)) is not None:
        return _bad(f"the URL {why}")
    parts = _URL.fullmatch(text)
    if parts is None:
        return _bad("this is not a URL; write it in full, as in https://example.com/page")
    scheme, slashes, authority, target = parts[1].lower(), parts[2], parts[3], parts[4]
    if scheme not in _PORTS:
        return forbidden("http.scheme", f"only http and https are supported, not {scheme}")
    if not slashes:
        return _bad(f"the URL has no // after {scheme}:")
    if "@" in authority:
        reason = "the URL contains a user name or password; credentials belong in a header"
        return forbidden("http.credentials", reason)
    host = read_host(authority)
    if isinstance(host, Finding):
        return forbidden("http.host", host.reason)
    path = target if target.startswith("/") else f"/{target}"
    return WebAddress(scheme, Host(host.name, host.port or _PORTS[scheme]), _escaped(path))


def _what_is_unseen(text: str) -> str | None:
    if "\\" in text:
        return "contains a backslash, which some programs read as a slash"
    for char in text:
        if char.isspace() or not char.isprintable():
            shown = cut(visible(char), _SHOWN_CHARS)
            return f"contains a space or an invisible character ({shown}); write it as %.."
    return None


def _escaped(target: str) -> str:
    return target if target.isascii() else quote(target, safe=_AS_IT_IS)


def _bad(reason: str) -> Finding:
    return forbidden("http.url", reason)
