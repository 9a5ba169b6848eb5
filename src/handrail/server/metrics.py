"""The tally as Prometheus reads it."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from handrail.plane.tally import Histogram, Tally


class _Told(Collector):
    def __init__(self, families: Iterable[Metric]):
        self._families = tuple(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


def render(tally: Tally, *, connected_clients: int, open_approvals: int) -> bytes:
    registry = CollectorRegistry()
    registry.register(
        _Told(
            (
                _counter(
                    "handrail_calls_proposed",
                    "Calls that were proposed, by their first ruling.",
                    ("tool", "ruling", "risk"),
                    tally.proposed,
                ),
                _counter(
                    "handrail_calls_ended",
                    "Calls that have ended.",
                    ("status", "error_type"),
                    tally.ended,
                ),
                _histogram(
                    "handrail_call_seconds",
                    "From the proposal of a call to its end.",
                    {(): tally.call_seconds},
                ),
                _histogram(
                    "handrail_decision_seconds",
                    "For how long questions waited, by how they ended.",
                    {(how,): waits for how, waits in tally.decision_seconds.items()},
                    ("status",),
                ),
                _histogram(
                    "handrail_commit_changes",
                    "How many changes shared a commit.",
                    {(): tally.commit_sizes},
                ),
                _counter(
                    "handrail_events_streamed",
                    "Events sent to listeners.",
                    (),
                    {(): tally.events_streamed},
                ),
                GaugeMetricFamily(
                    "handrail_open_approvals", "Questions that wait for a person.", open_approvals
                ),
                GaugeMetricFamily(
                    "handrail_connected_clients", "Machines that are connected.", connected_clients
                ),
            )
        )
    )
    return generate_latest(registry)


def _counter(
    name: str, words: str, labels: tuple[str, ...], counts: Mapping[tuple[str, ...], int]
) -> Metric:
    family = CounterMetricFamily(name, words, labels=labels)
    for values, count in sorted(counts.items()):
        family.add_metric(values, count)
    return family


def _histogram(
    name: str,
    words: str,
    by_label: Mapping[tuple[str, ...], Histogram],
    labels: tuple[str, ...] = (),
) -> Metric:
    family = HistogramMetricFamily(name, words, labels=labels)
    for values, histogram in sorted(by_label.items()):
        family.add_metric(values, _buckets(histogram), histogram.sum)
    return family


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    """Each with all that is not more, as Prometheus wants them."""
    bounds = [*(str(float(bound)) for bound in histogram.bounds), "+Inf"]
    total = 0
    buckets: list[tuple[str, float]] = []
    for bound, count in zip(bounds, histogram.counts, strict=True):
        total += count
        buckets.append((bound, total))
    return buckets
