"""Reaching the web, and reading in what comes back."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WebRequest:
    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    timeout_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class WebResponse:
    """An answer, whatever its status. `truncated` says that there was more than was taken."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool = False


class Web(Protocol):
    """The web as far as it may be reached. No redirect is followed."""

    async def request(self, request: WebRequest, *, max_bytes: int) -> WebResponse:
        """Ask for one thing, at an address that was checked.

        Raises:
            WebError: The host may not be reached, or did not answer.
        """
        ...


class Reader(Protocol):
    """Somebody who reads a long text and tells what was wanted of it."""

    async def extract(self, text: str, wanted: str) -> str:
        """What the text says of it.

        Raises:
            WebError: Nobody can read it now.
        """
        ...
