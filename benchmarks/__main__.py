"""`make bench`: measure every promise of docs/performance.md, or only some of them."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from benchmarks import (
    against_mcp,
    analytics,
    boundary,
    console,
    distrust,
    drafts,
    fair,
    listeners,
    memory,
    rehearsals,
    remotes,
    steady,
)
from benchmarks.outcome import Outcome

RESULTS = Path(__file__).with_name("results.json")

Measure = Callable[[Path, Collection[str]], Iterator[Outcome]]
SUITES: dict[str, tuple[tuple[str, ...], Measure]] = {
    "calls": (tuple(against_mcp.PROMISES), against_mcp.measure),
    "boundary": (boundary.NAMES, boundary.measure),
    "rehearsals": (rehearsals.NAMES, rehearsals.measure),
    "drafts": (drafts.NAMES, drafts.measure),
    "remotes": (remotes.NAMES, remotes.measure),
    "distrust": (distrust.NAMES, distrust.measure),
    "fair": (fair.NAMES, fair.measure),
    "steady": (steady.NAMES, steady.measure),
    "listeners": (listeners.NAMES, listeners.measure),
    "memory": (memory.NAMES, memory.measure),
    "console": (console.NAMES, console.measure),
    "analytics": (analytics.NAMES, analytics.measure),
}
NAMES = [name for names, _ in SUITES.values() for name in names]


def main(only: Collection[str]) -> int:
    print(f"{'name':19} {'ratio':>6} {'target':>8}")
    outcomes: list[Outcome] = []
    for names, measure in SUITES.values():
        wanted = [name for name in names if name in only]
        if wanted:
            with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
                outcomes += _shown(measure(Path(folder).resolve(), wanted))
    RESULTS.write_text(json.dumps([one._asdict() for one in outcomes], indent=2) + "\n")
    return 0 if all(one.ok for one in outcomes) else 1


def _shown(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    for one in outcomes:
        mark = "ok" if one.ok else "not met"
        print(f"{one.name:19} {one.ratio:6.2f} {one.target:8g}  {mark:8} {one.detail}", flush=True)
        yield one


def _names_asked_for() -> Collection[str]:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    names: list[str] = parser.parse_args().names
    if unknown := sorted(set(names) - set(NAMES)):
        parser.error(f"there is no {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    return names or NAMES


if __name__ == "__main__":
    sys.exit(main(_names_asked_for()))
