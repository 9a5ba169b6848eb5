"""Text from elsewhere, made unable to hide, move or colour anything."""


def visible(text: str, *, keep: str = "") -> str:
    """Control, bidirectional and other unseen characters as escapes, but for those in `keep`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escape(char) for char in text)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"
