"""A body as it arrives: at most so much of it, packed or not, and never a bomb."""

import zlib

from handrail.core.errors import WebError

# Text that is packed well is a tenth of itself; what passes its limit from less than this is made
# to overwhelm whoever unpacks it.
MOST_TIMES_PACKED = 100

_GZIP = zlib.MAX_WBITS | 16
_KNOWN = {"": False, "identity": False, "gzip": True, "x-gzip": True}


class Body:
    """Collects a body up to `max_bytes`, both as it is sent and as it is unpacked."""

    def __init__(self, encoding: str, max_bytes: int):
        packed = _KNOWN.get(encoding.strip().lower())
        if packed is None:
            raise WebError("the response has a compression that was not requested")
        self._unpacker = zlib.decompressobj(_GZIP) if packed else None
        self._max_bytes = max_bytes
        self._sent = 0
        self._unpacked = 0
        self._data = bytearray()
        self.truncated = False

    def take(self, chunk: bytes) -> None:
        """Add what has arrived.

        Raises:
            WebError: It cannot be unpacked, or is a bomb.
        """
        self._sent += len(chunk)
        if self._unpacker is None:
            self._keep(chunk)
        else:
            self._unpack(chunk)
        self.truncated = self.truncated or self._sent > self._max_bytes

    def end(self) -> bytes:
        """What there is of it, in the end."""
        if self._unpacker is not None and self._sent and not self._unpacker.eof:
            self.truncated = True
        return bytes(self._data)

    def _unpack(self, chunk: bytes) -> None:
        while chunk and self._unpacker is not None and not self.truncated:
            if self._unpacker.eof:
                # Several files, one behind the other, are one file.
                self._unpacker = zlib.decompressobj(_GZIP)
            room = self._max_bytes - len(self._data)
            try:
                self._keep(self._unpacker.decompress(chunk, room + 1))
            except zlib.error as error:
                raise WebError("the response claims to be gzip, but is not") from error
            rest = self._unpacker.unused_data
            self._unpacked += len(chunk) - len(rest) - len(self._unpacker.unconsumed_tail)
            chunk = rest
        if self.truncated and self._unpacked * MOST_TIMES_PACKED < len(self._data):
            raise WebError(
                f"the answer unpacks to more than {MOST_TIMES_PACKED} times its size and more than"
                f" {self._max_bytes:,} bytes; it was refused"
            )

    def _keep(self, data: bytes) -> None:
        room = self._max_bytes - len(self._data)
        self._data += data[:room]
        self.truncated = self.truncated or len(data) > room
