"""Which versions of the wire understand each other."""

from handrail.wire import WIRE_VERSION


def check_wire_version(server: str, ours: str = WIRE_VERSION) -> str | None:
    """What to upgrade, in one sentence; None where they differ by one minor at most."""
    told, own = _numbers(server), _numbers(ours)
    if told is None or own is None:
        return f"the server speaks {server!r}, and this program wire version {ours}"
    if told[0] == own[0] and abs(told[1] - own[1]) <= 1:
        return None
    older = "Handrail on this machine" if told > own else "the server"
    return f"the server speaks wire version {server}, and this program {ours}: upgrade {older}"


def _numbers(version: str) -> tuple[int, int] | None:
    major, _, minor = version.partition(".")
    known = major.isdecimal() and minor.isdecimal() and len(version) <= 20
    return (int(major), int(minor)) if known else None
