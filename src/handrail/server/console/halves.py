"""The two halves of what a signed-in browser is known by."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Halves:
    """One is in a cookie, the other with our page; neither says a thing about the other."""

    cookie: str
    page: str

    def hashed(self) -> str:
        """What their token is kept under; made in another way than for what bearers send."""
        return hmac.new(self.page.encode(), self.cookie.encode(), hashlib.sha256).hexdigest()


def new_halves() -> Halves:
    return Halves(secrets.token_urlsafe(32), secrets.token_urlsafe(32))
