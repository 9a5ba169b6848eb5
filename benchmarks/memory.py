"""What it costs to recall one of very many memories, against recalling one of few."""

import asyncio
import random
import struct
import time
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from benchmarks.outcome import Outcome
from handrail.app.clock import SystemClock
from handrail.bus.local import LocalBus
from handrail.core.change import Add, Change, KeepMemory
from handrail.core.ids import ProjectId, UserId, mint
from handrail.core.memory import Memory, Vector
from handrail.core.project import Autonomy, Project, User
from handrail.knowledge.embedding import Embedder
from handrail.knowledge.memory import MemoryKeeper, Owner, PersonalMemories
from handrail.knowledge.minilm import Weights, find_weights
from handrail.store.sqlite import SqliteStore

# Ten thousand may cost twice what a hundred do, and one embedding of the question more.
PROMISES = {"memory": 2.0}
NAMES = tuple(PROMISES)

MANY = 10_000
FEW = 100
ROUNDS = 15
_WORDS_PER_MEMORY = 12
_WIDTH = 384


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    weights = find_weights()
    if weights.folder is None:
        yield Outcome("memory", 0, PROMISES["memory"], ok=False, detail=weights.why_not)
        return
    yield asyncio.run(_measure(folder, weights, weights.folder))


async def _measure(folder: Path, weights: Weights, model: Path) -> Outcome:
    store = SqliteStore(folder / "memory.db", LocalBus())
    await store.open()
    keeper = MemoryKeeper(store, SystemClock(), weights)
    chance = random.Random(7)
    words = [f"{''.join(chance.choices('abcdefghijklmnop', k=7))}" for _ in range(3_000)]
    try:
        many = keeper.of(await _fill(store, weights, "many", MANY, words, chance))
        few = keeper.of(await _fill(store, weights, "few", FEW, words, chance))
        embedder = Embedder(model)
        questions = [f"what about {' '.join(chance.sample(words, 5))}" for _ in range(ROUNDS)]
        # Vectors are read once for each person.
        await _recall(many, questions[0])
        await _recall(few, questions[0])
        rounds = [
            (await _recall(many, one), await _recall(few, one), _embed(embedder, one))
            for one in questions
        ]
    finally:
        keeper.close()
        await store.close()
    among_many, among_few, embedding = (1000 * median(side) for side in zip(*rounds, strict=True))
    ratio = (among_many - embedding) / among_few
    detail = (
        f"{among_many:.1f} ms among {MANY:,} against {among_few:.1f} ms among {FEW}; "
        f"{embedding:.1f} ms of each are the embedding"
    )
    return Outcome.at_most("memory", ratio, PROMISES["memory"], detail)


async def _fill(
    store: SqliteStore,
    weights: Weights,
    name: str,
    count: int,
    words: list[str],
    chance: random.Random,
) -> Owner:
    at = SystemClock().now()
    user_id, project_id = UserId(mint("usr", at)), ProjectId(mint("prj", at))
    project = Project(project_id, user_id, name, Autonomy.SUPERVISED, "salt", at)
    await store.submit(Change(project_id, at, (Add(User(user_id, name, at)), Add(project))))
    steps = [
        KeepMemory(
            user_id,
            _memory(number, words, chance, at + timedelta(microseconds=number)),
            Vector(_vector(chance), weights.made_by),
        )
        for number in range(count)
    ]
    for start in range(0, count, 1_000):
        await store.submit(Change(project_id, at, tuple(steps[start : start + 1_000])))
    return Owner(user_id, project_id, "benchmark")


def _memory(number: int, words: list[str], chance: random.Random, at: datetime) -> Memory:
    text = " ".join(chance.choices(words, k=_WORDS_PER_MEMORY))
    return Memory(f"note {number}", text, "general", at, at)


def _vector(chance: random.Random) -> bytes:
    numbers = [chance.gauss(0, 1) for _ in range(_WIDTH)]
    length = sum(number * number for number in numbers) ** 0.5
    return struct.pack(f"<{_WIDTH}f", *(number / length for number in numbers))


async def _recall(memories: PersonalMemories, question: str) -> float:
    began = time.perf_counter()
    await memories.recall(question, limit=5)
    return time.perf_counter() - began


def _embed(embedder: Embedder, question: str) -> float:
    began = time.perf_counter()
    embedder.encode(question)
    return time.perf_counter() - began
