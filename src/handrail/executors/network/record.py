"""What went through the proxy and what did not, to be told with the result of the call."""

from collections import Counter

from handrail.core.traffic import Contact, Refused, Traffic

# A command can make up names without end; beyond this many they are counted together.
MOST_NAMES = 100
OTHERS = "other hosts"


class Meter:
    """Counts what is said to one host and by it."""

    def __init__(self) -> None:
        self.connections = 0
        self.sent_bytes = 0
        self.received_bytes = 0


class ProxyRecord:
    """Everything that was asked of one proxy."""

    def __init__(self) -> None:
        self._meters: dict[str, Meter] = {}
        self._refusals: Counter[tuple[str, str]] = Counter()

    @property
    def traffic(self) -> Traffic:
        contacted = [
            Contact(host, meter.connections, meter.sent_bytes, meter.received_bytes)
            for host, meter in self._meters.items()
        ]
        refused = [Refused(host, reason, times) for (host, reason), times in self._refusals.items()]
        return Traffic(tuple(contacted), tuple(refused))

    def meter(self, host: str) -> Meter:
        """The meter of a host to which one more connection is made."""
        if host not in self._meters and len(self._meters) >= MOST_NAMES:
            host = OTHERS
        meter = self._meters.setdefault(host, Meter())
        meter.connections += 1
        return meter

    def refuse(self, host: str, reason: str) -> None:
        key = (host, reason)
        if key not in self._refusals and len(self._refusals) >= MOST_NAMES:
            key = (OTHERS, "too many were refused to list them all")
        self._refusals[key] += 1
