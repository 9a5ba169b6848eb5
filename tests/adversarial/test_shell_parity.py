"""Our reading of a shell string against bash's own, over strings that nobody has chosen."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

import pytest

from handrail.policy.shell import lowering
from handrail.policy.shell.script import Join, Script, Stream
from handrail.policy.shell.sight import look_through
from tests.adversarial.bash_truth import Runs, expected, truth, truth_alone, version_of_bash
from tests.adversarial.shell_strings import shell_string

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        version_of_bash() < 5, reason="the comparison is with bash 5, which is not installed"
    ),
]

SEED = 20_261_116
ANOTHER_SEED = 3_141_592
MOST_ACCEPTED = 20_000
LEAST_REJECTED = 0.30
PER_PROCESS = 1_000

# The beginning of a text of several lines that is one word.
MESSAGE = '"$('
# Patterns to which files answer even in an empty folder.
_FINDS_SOMETHING = re.compile(r"/|.*\.\.|(?:.*/)?\.[*?\[]")


@dataclass(frozen=True)
class Difference:
    text: str
    ours: Runs
    bash: Runs

    def __str__(self) -> str:
        return f"{self.text!r}\n  we read:   {self.ours}\n  bash runs: {self.bash}"


@dataclass(frozen=True)
class Sample:
    """Different strings that we take for plain, and which share of all strings we did not."""

    accepted: dict[str, Script]
    rejected: float


def sample(seed: int, count: int) -> Sample:
    random = Random(seed)
    accepted: dict[str, Script] = {}
    seen: set[str] = set()
    rejected = 0
    while len(accepted) < count:
        text = shell_string(random)
        if text in seen:
            continue
        seen.add(text)
        script = lowering.lower(text)
        if not isinstance(script, Script):
            rejected += 1
        elif not finds_something(script) and "cat" not in names_in([script]):
            accepted[text] = script
    return Sample(accepted, rejected / len(seen))


def finds_something(script: Script) -> bool:
    words = [word for step in script.steps for word in step.words if word.is_pattern]
    return any(_FINDS_SOMETHING.match(word.text) for word in words)


def compare(some: Sequence[tuple[str, Script]]) -> list[Difference]:
    found = truth([text for text, _ in some], names_in(script for _, script in some))
    return [
        Difference(text, expected(script), runs)
        for (text, script), runs in zip(some, found, strict=True)
        if expected(script) != runs
    ]


def names_in(scripts: Iterable[Script]) -> set[str]:
    return {step.words[0].text for script in scripts for step in script.steps}


def differences(accepted: dict[str, Script]) -> Iterator[Difference]:
    items = list(accepted.items())
    parts = [items[at : at + PER_PROCESS] for at in range(0, len(items), PER_PROCESS)]
    with ThreadPoolExecutor(2) as pool:
        try:
            for found in pool.map(compare, parts):
                yield from found
        finally:
            pool.shutdown(cancel_futures=True)


def shrunk(difference: Difference) -> Difference:
    """The same trouble in fewer characters."""
    while True:
        text = difference.text
        shorter = {
            text[:at] + text[at + size :] for size in (1, 2, 4, 8, 16) for at in range(len(text))
        }
        readings = {one: lowering.lower(one) for one in shorter}
        plain = [(one, read) for one, read in readings.items() if isinstance(read, Script)]
        plain = [(one, read) for one, read in plain if not finds_something(read)]
        if not (found := compare(plain)):
            return difference
        difference = min(found, key=lambda one: (len(one.text), one.text))


def told(found: Sequence[Difference]) -> str:
    shown = [shrunk(one) for one in sorted(found, key=lambda one: len(one.text))[:5]]
    return "\n".join([f"{len(found)} differences, among them:", *map(str, shown)])


@pytest.fixture(scope="module")
def drawn() -> Sample:
    return sample(SEED, MOST_ACCEPTED)


def test_what_we_read_is_what_bash_runs(drawn: Sample) -> None:
    assert drawn.rejected >= LEAST_REJECTED
    found = list(differences(drawn.accepted))
    assert not found, told(found)


def test_strings_hold_all_that_we_take_for_plain(drawn: Sample) -> None:
    steps = [step for script in drawn.accepted.values() for step in script.steps]
    words = [word for step in steps for word in step.words]
    assert min(Counter(step.join for step in steps).values()) >= 500
    assert {step.join for step in steps} == set(Join)
    assert sum(step.stdout is Stream.NULL for step in steps) >= 500
    assert sum(step.stderr is Stream.NULL for step in steps) >= 500
    assert sum(step.stderr is Stream.OUT for step in steps) >= 250
    assert sum(step.stdout is Stream.ERR for step in steps) >= 250
    assert sum(step.stdin is not None for step in steps) >= 500
    assert sum(word.is_pattern for word in words) >= 500
    pieces = ("'", '"', "\\;", "\\ ", " \\\n", "#", "\t", "~", "@{", "{}", "!", "$", "é")
    new = ("\ufe0f", "\u200d", "|&", ">>/dev/null", ">&2", "<<E", "<<'E'", '<<"E"', "<<-", MESSAGE)
    for piece in pieces + new:
        assert sum(piece in text for text in drawn.accepted) >= 100, piece


def test_a_string_means_the_same_in_a_shell_of_its_own() -> None:
    for text, script in sample(ANOTHER_SEED, 100).accepted.items():
        assert truth_alone(text, names_in([script])) == expected(script), text


def test_a_word_is_a_pattern_where_bash_takes_it_for_one() -> None:
    """Told to drop patterns that fit nothing, bash shows which words it takes for patterns."""
    accepted = {
        text: without_patterns(script)
        for text, script in sample(ANOTHER_SEED, 5 * PER_PROCESS).accepted.items()
        if not has_pattern_behind_a_dash(script)
    }
    found = truth(list(accepted), names_in(accepted.values()), options="shopt -s nullglob")
    for (text, script), runs in zip(accepted.items(), found, strict=True):
        assert runs == expected(script), text


def without_patterns(script: Script) -> Script:
    return Script(
        tuple(
            step._replace(words=tuple(word for word in step.words if not word.is_pattern))
            for step in script.steps
        )
    )


def has_pattern_behind_a_dash(script: Script) -> bool:
    words = [word.text for step in script.steps for word in step.words]
    return any(word.startswith("-") and re.search(r"[*?]|\[.*\]", word) for word in words)


def test_what_is_plain_is_seen_by_the_detector_too() -> None:
    for text, script in sample(ANOTHER_SEED, 5 * PER_PROCESS).accepted.items():
        if MESSAGE in text:
            # What a command prints is unknown to the detector.
            continue
        seen = {word for command in look_through(text) for word in command}
        assert {step.words[0].text for step in script.steps} <= seen, text


def test_a_broken_line_taken_for_a_blank_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    lenient = re.compile(rb"(?:[ \t\n]|\\\n)*")
    monkeypatch.setattr(lowering, "is_blank", lenient.fullmatch)
    accepted = sample(SEED, MOST_ACCEPTED).accepted
    # Where it is misread what is written to, something could really be written.
    harmless = {text: script for text, script in accepted.items() if ">" not in text}
    found = next(differences(harmless), None)
    assert found is not None
    assert "\\\n" in shrunk(found).text
