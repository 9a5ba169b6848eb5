"""Plain text: what a file with an unknown name may hold without being more than text."""

import re

MOST_BYTES = 256_000
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_SCRIPT = b"#!"


def is_plain_text(content: bytes) -> bool:
    """True for a small text file without a `#!` line."""
    if len(content) > MOST_BYTES or content.startswith(_SCRIPT):
        return False
    try:
        return _CONTROLS.search(content.decode("utf-8")) is None
    except UnicodeDecodeError:
        return False
