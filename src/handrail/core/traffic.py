"""What a command has said to the network, and what it was not let say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contact:
    """A host that was reached, how often, and how much was said to it and by it."""

    host: str
    connections: int
    sent_bytes: int
    received_bytes: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A host that was not reached, and why; without a name where none could be read."""

    host: str
    reason: str
    times: int


@dataclass(frozen=True, slots=True)
class Traffic:
    contacted: tuple[Contact, ...] = ()
    refused: tuple[Refused, ...] = ()

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.contacted + other.contacted, self.refused + other.refused)


NO_TRAFFIC = Traffic()
