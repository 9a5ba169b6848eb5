"""Learn what words, concepts and claims weigh in `scan`, and say how well that does.

    python -m scripts.injection.learn            # writes defaults/weights.json
    python -m scripts.injection.learn --figures  # each writer by what the others taught

Takes a minute or two and one gigabyte. The same texts and the same Python give the same weights;
another version of the standard library, from which ordinary pieces are taken, gives others.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from scripts.injection.learner import Learner
from scripts.injection.lessons import (
    ROOT,
    WRITERS,
    Lesson,
    first_lessons,
    library_lessons,
    made_up_lessons,
    written_lessons,
)

WRITTEN = ROOT / "src" / "handrail" / "policy" / "injection" / "defaults" / "weights.json"
# Where suspicion begins: so that about one in thirty of the writers' ordinary texts, which are hard
# on purpose, and one in a hundred of a usual mix, is suspected by what the other writers taught.
ABOVE = 1.2
_ALARMS = (0.005, 0.01, 0.02, 0.03, 0.05)


def write(lessons: Sequence[Lesson], path: Path = WRITTEN) -> None:
    learner = Learner()
    learner.learn(lessons)
    told = json.dumps(learner.told(ABOVE), ensure_ascii=False, indent=0)
    path.write_text(told + "\n", encoding="utf-8")


def print_figures(lessons: Sequence[Lesson]) -> None:
    """What is caught of each writer, and of all, at several shares of false alarms."""
    everything: list[tuple[Lesson, float]] = []
    for writer in WRITERS:
        learner = Learner()
        learner.learn([one for one in lessons if one.writer != writer])
        own = [one for one in lessons if one.writer == writer]
        weighed = [(one, learner.heaviest(one.passages)) for one in own]
        everything += weighed
        print(f"{writer}: {_figures(weighed)}", flush=True)
    print(f"all: {_figures(everything)}")


def _figures(weighed: Sequence[tuple[Lesson, float]]) -> str:
    ordinary = sorted((weight for one, weight in weighed if not one.attacks), reverse=True)
    overrides = [weight for one, weight in weighed if one.override]
    orders = [weight for one, weight in weighed if one.attacks and not one.override]
    told = [f"from {ABOVE}: {_share(overrides, ABOVE)} caught"]
    if orders:
        told.append(f"{_share(orders, ABOVE)} of plain orders")
    told.append(f"{_share(ordinary, ABOVE)} alarms")
    for alarms in _ALARMS:
        least = ordinary[int(alarms * len(ordinary))]
        told.append(f"at {alarms:.1%} (from {least:.2f}) {_share(overrides, least)}")
    return ", ".join(told)


def _share(weights: Sequence[float], least: float) -> str:
    return f"{sum(weight > least for weight in weights) / len(weights):.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn the weights of `scan`.")
    parser.add_argument("--figures", action="store_true", help="print figures, write nothing")
    lessons = [
        *library_lessons(),
        *made_up_lessons(),
        *first_lessons(),
        *written_lessons(),
    ]
    (print_figures if parser.parse_args().figures else write)(lessons)


if __name__ == "__main__":
    main()
