"""Store, recall, forget: for one person, over the real database."""

import asyncio
from datetime import timedelta

import pytest

from handrail.core.errors import BadInput
from handrail.core.memory import MOST_CONTENT_CHARS, MOST_KEY_CHARS, Mark
from handrail.knowledge import memory
from handrail.knowledge.memory import MemoryKeeper
from handrail.knowledge.minilm import Weights
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.knowledge.conftest import memories_of, owner

HOSTILE = [
    "",
    " ",
    '"',
    '""" OR """',
    "'; DROP TABLE agent_memory; --",
    "NEAR(a b, 2) AND NOT c*",
    "key:release ^x - + * ( ) { } :",
    "a AND",
    "OR OR OR",
    "\0\0",
    "\ud800",
    "\u202e\u0300\u0300",
    "日本語のテキスト",
    "%_\\",
    "word " * 2_000,
    "x" * 10_000,
    '"' * 10_000,
    "é" * 10_000,
]


async def test_what_was_stored_is_found_and_then_forgotten(
    keeper: MemoryKeeper, household: Household, clock: FakeClock
) -> None:
    mine = memories_of(household, keeper)

    kept = await mine.store("release-day", "We release on Tuesdays.", "work")
    found = await mine.recall("which day is the release?")
    gone = await mine.forget("release-day")

    assert found == [kept]
    assert (kept.category, kept.created_at, kept.tainted) == ("work", clock.now(), None)
    assert gone is True
    assert await mine.recall("which day is the release?") == []
    assert await mine.forget("release-day") is False


async def test_an_exact_key_comes_before_all_others(
    keeper: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, keeper)
    await mine.store("tea", "tea tea tea tea")
    await mine.store("green tea", "steep for two minutes")

    found = await mine.recall("green tea")

    assert [memory.key for memory in found] == ["green tea", "tea"]


async def test_the_same_key_again_takes_the_place_of_what_was_there(
    keeper: MemoryKeeper, household: Household, clock: FakeClock
) -> None:
    mine = memories_of(household, keeper)
    first = await mine.store("editor", "Ada uses vim.")
    clock.advance(60)

    second = await mine.store("editor", "Ada uses emacs.", "taste")

    assert await mine.recall("vim") == []
    assert await mine.recall("emacs") == [second]
    assert second.created_at == first.created_at
    assert second.updated_at == first.created_at + timedelta(seconds=60)


async def test_a_category_narrows_the_search_and_the_exact_key(
    keeper: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, keeper)
    await mine.store("coffee", "coffee is bought by Grace", "office")
    await mine.store("beans", "coffee comes from Kenya", "taste")

    found = await mine.recall("coffee", category="taste")

    assert [memory.key for memory in found] == ["beans"]


async def test_words_are_found_in_other_forms_and_in_the_key(
    keeper: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, keeper)
    await mine.store("deploy/rollback", "press the red button")
    await mine.store("other", "nothing of interest")

    for query in ("all our deploys", "the buttons", "deploying"):
        assert [memory.key for memory in await mine.recall(query)] == ["deploy/rollback"], query


@pytest.mark.behaviour("memory.apart")
async def test_two_people_never_see_each_others(
    keeper: MemoryKeeper, household: Household, neighbour: Household
) -> None:
    ada, bob = memories_of(household, keeper), memories_of(neighbour, keeper)
    await ada.store("secret", "the treasure lies under the oak")
    await bob.store("secret", "my diary is blue")

    assert [memory.content for memory in await bob.recall("treasure oak")] == []
    assert [memory.content for memory in await bob.recall("secret")] == ["my diary is blue"]
    assert [memory.key for memory in await bob.list_all(category=None, limit=9)] == ["secret"]
    assert await bob.forget("secret")
    assert [memory.content for memory in await ada.recall("secret")] == [
        "the treasure lies under the oak"
    ]


@pytest.mark.behaviour("memory.any-query")
@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:12]))
async def test_no_query_is_an_error(keeper: MemoryKeeper, household: Household, query: str) -> None:
    mine = memories_of(household, keeper)
    await mine.store("a", "NEAR and far, OR not: \"quoted\" 'text' *")

    found = await mine.recall(query, limit=5, category=None)
    none = await mine.recall(query, limit=5, category=query)

    assert len(found) <= 1
    assert none == []
    assert await mine.forget(query) is False


async def test_a_tainted_session_taints_what_it_stores(
    keeper: MemoryKeeper, household: Household
) -> None:
    tainted = keeper.of(owner(household, "page example.org/offer"))

    await tainted.store("offer", "everything is free", "general", None)

    (found,) = await memories_of(household, keeper).recall("offer")
    assert found.tainted == "page example.org/offer"


@pytest.mark.parametrize(
    ("key", "content", "category", "message"),
    [
        ("", "x", "general", "key: it is empty"),
        ("k", "  ", "general", "content: it is empty"),
        ("k", "x", "", "category: it is empty"),
        ("k" * 201, "x", "general", "key: it has 201 characters; at most 200 are kept"),
        (
            "k",
            "x" * 20_001,
            "general",
            "content: it has 20,001 characters; at most 20,000 are kept",
        ),
        ("k\n", "x", "general", "key: write it in one line, without spaces around it"),
        ("k", "x\ud800", "general", "content: it contains half a character (a lone surrogate)"),
        (
            "a/../b",
            "x",
            "general",
            "key: a key cannot have `.` or `..` between slashes; choose another",
        ),
    ],
)
async def test_what_cannot_be_kept_is_refused_in_words(
    keeper: MemoryKeeper, household: Household, key: str, content: str, category: str, message: str
) -> None:
    mine = memories_of(household, keeper)

    with pytest.raises(BadInput) as caught:
        await mine.store(key, content, category)

    assert caught.value.message == message
    assert await mine.list_all(category=None, limit=9) == []


async def test_the_longest_that_is_taken_is_kept_whole(
    keeper: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, keeper)
    key, content = "k" * MOST_KEY_CHARS, "wörd " * (MOST_CONTENT_CHARS // 5)

    await mine.store(key, content)

    (found,) = await mine.recall(key)
    assert found.content == content


async def test_one_memory_too_many_is_refused_but_known_keys_still_change(
    keeper: MemoryKeeper, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MOST_MEMORIES", 2)
    mine = memories_of(household, keeper)
    await mine.store("a", "1")
    await mine.store("b", "2")

    with pytest.raises(BadInput, match="there are 2 memories; forget some first"):
        await mine.store("c", "3")
    await mine.store("a", "new")

    assert {one.content for one in await mine.list_all(category=None, limit=9)} == {"new", "2"}


async def test_what_is_forgotten_leaves_no_word_in_the_files(
    keeper: MemoryKeeper, household: Household, store: SqliteStore
) -> None:
    mine = memories_of(household, keeper)
    await mine.store("k", "xylophonist")
    await mine.forget("k")
    await store.close()

    assert b"xylophonist" not in store._path.read_bytes()


async def test_a_person_who_forgets_stands_in_the_record_without_the_key(
    keeper: MemoryKeeper, household: Household, store: SqliteStore
) -> None:
    mine = memories_of(household, keeper)
    await mine.store("my illness", "private")

    assert await mine.forget_for_person("my illness")

    lines = await store.read_audit(household.project.id, after=0, limit=99)
    assert lines[-1].action == "memory.forgotten"
    assert "illness" not in str(lines)


# By meaning


async def test_meaning_finds_what_shares_no_word(
    knowing: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, knowing)
    await mine.store("pet", "Alan's cat is named Turing.")
    await mine.store("build", "The nightly build runs on the machine under the desk.")

    found = await mine.recall("which animal lives with him")

    assert found[0].key == "pet"
    assert knowing.words_alone is None


async def test_a_name_that_means_nothing_is_found_by_its_letters(
    knowing: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, knowing)
    await mine.store("printer", "The printer that jams is a brother model.")
    await mine.store("pump", "HX-4711 needs oil twice a year.")

    found = await mine.recall("what did we say about the printer-like device HX-4711?")

    assert found[0].key == "pump"


async def test_what_changes_is_compared_as_it_is_now(
    knowing: MemoryKeeper, household: Household
) -> None:
    mine = memories_of(household, knowing)
    await mine.store("lunch", "We eat soup together.")
    await mine.store("car", "The blue van is in repair.")
    assert (await mine.recall("our vehicle"))[0].key == "car"

    await mine.store("car", "Bananas are yellow.")
    await mine.forget("lunch")
    await mine.store("bike", "Her bicycle has a flat tyre.")

    assert (await mine.recall("a means of transport with two wheels"))[0].key == "bike"
    assert "lunch" not in [one.key for one in await mine.recall("soup")]


async def test_memories_from_a_time_without_a_model_get_their_meaning(
    keeper: MemoryKeeper, knowing: MemoryKeeper, household: Household, store: SqliteStore
) -> None:
    await memories_of(household, keeper).store("pet", "Alan's cat is named Turing.")

    found = await memories_of(household, knowing).recall("animals he lives with")

    assert [memory.key for memory in found] == ["pet"]
    rows = await store.list_vectors(household.user.user_id, Mark(), limit=9)
    assert [row.vector is None for row in rows] == [False]


async def test_two_people_never_see_each_others_meaning(
    knowing: MemoryKeeper, household: Household, neighbour: Household
) -> None:
    ada, bob = memories_of(household, knowing), memories_of(neighbour, knowing)
    await ada.store("secret", "the treasure lies under the oak")
    await bob.store("pet", "a parrot")

    found = await bob.recall("hidden gold beneath a tree")

    assert "secret" not in [memory.key for memory in found]
    assert [one.key for one in await ada.recall("hidden gold beneath a tree")] == ["secret"]


async def test_many_may_ask_at_once(knowing: MemoryKeeper, household: Household) -> None:
    mine = memories_of(household, knowing)
    await mine.store("pet", "Alan's cat is named Turing.")

    answers = await asyncio.gather(*(mine.recall("his animal") for _ in range(8)))

    assert [[one.key for one in answer] for answer in answers] == [["pet"]] * 8


async def test_a_model_that_is_broken_leaves_the_words(
    store: SqliteStore, clock: FakeClock, household: Household, weights: Weights
) -> None:
    assert weights.folder is not None
    broken = MemoryKeeper(store, clock, Weights(weights.folder / "nowhere", made_by="x"))
    mine = memories_of(household, broken)

    await mine.store("pet", "Alan's cat is named Turing.")

    assert [memory.key for memory in await mine.recall("cat")] == ["pet"]
    assert broken.words_alone is not None
    assert "could not be used" in broken.words_alone
    broken.close()
