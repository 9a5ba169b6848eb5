"""How often the right memory comes first when it is asked for in other words."""

import tomllib
from pathlib import Path

import pytest

from handrail.knowledge.memory import MemoryKeeper, PersonalMemories
from tests.conftest import Household
from tests.knowledge.conftest import memories_of

CORPUS = Path(__file__).parent.parent / "corpus" / "memories.toml"
PAIRS = [(one["fact"], one["question"]) for one in tomllib.loads(CORPUS.read_text())["memory"]]


async def recall_at_1(memories: PersonalMemories) -> float:
    for number, (fact, _) in enumerate(PAIRS):
        await memories.store(f"note {number}", fact, "general", None)
    hits = 0
    for fact, question in PAIRS:
        found = await memories.recall(question, limit=1)
        hits += [memory.content for memory in found] == [fact]
    return hits / len(PAIRS)


def test_there_are_enough_facts_and_no_two_are_the_same() -> None:
    assert len(PAIRS) >= 60
    assert len({fact for fact, _ in PAIRS}) == len({question for _, question in PAIRS})


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.behaviour("memory.meaning")
async def test_by_meaning_the_right_memory_comes_first_four_times_out_of_five(
    knowing: MemoryKeeper,
    keeper: MemoryKeeper,
    household: Household,
    neighbour: Household,
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_meaning = await recall_at_1(memories_of(household, knowing))
    by_words = await recall_at_1(memories_of(neighbour, keeper))

    with capsys.disabled():
        print(f"\nrecall@1 over {len(PAIRS)}: {by_meaning:.2f} by meaning, {by_words:.2f} by words")
    assert by_meaning >= 0.8
    assert 0.2 <= by_words < by_meaning
