"""The person at this terminal, if one is there."""

from handrail.channels.terminal import TerminalChannel, has_terminal
from handrail.core.ports import Channel


def find_terminal() -> Channel | None:
    return TerminalChannel() if has_terminal() else None
