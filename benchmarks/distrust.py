"""What distrust costs: a scan of a text, against reading the same text as JSON."""

import json
import sysconfig
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median

from benchmarks.outcome import Outcome
from handrail.policy.injection.scan import forget_words, scan

PROMISES = {"scan": 20.0}
NAMES = tuple(PROMISES)

ROUNDS = 25
READINGS = 10
_LENGTH = 100_000


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    """Both sides take turns, so that whatever slows the machine slows both.

    Every scan meets the words of the text for the first time.
    """
    text = ordinary_text()
    written = json.dumps(text.splitlines())
    scan(text, source="benchmark")
    rounds: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        forget_words()
        ours = _time(lambda: scan(text, source="benchmark"), 1)
        rounds.append((ours, _time(lambda: json.loads(written), READINGS)))
    ours, plain = (1000 * median(side) for side in zip(*rounds, strict=True))
    ratio = median(mine / theirs for mine, theirs in rounds)
    detail = f"{ours:.2f} ms to scan 100 kB against {plain:.2f} ms to read them as JSON"
    for name in wanted:
        yield Outcome.at_most(name, ratio, PROMISES[name], detail)


def ordinary_text() -> str:
    """Half source code, half prose, both from the standard library."""
    source = Path(sysconfig.get_path("stdlib"), "argparse.py").read_text(encoding="utf-8")
    prose = "\n".join(topics[name] for name in sorted(topics))
    return source[: _LENGTH // 2] + prose[: _LENGTH // 2]


def _time(act: Callable[[], object], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        act()
    return (time.process_time() - began) / times
