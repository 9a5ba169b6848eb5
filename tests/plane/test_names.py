"""The names of a project are read once, and again only when an id is new."""

from handrail.core.change import Add, Change
from handrail.core.ids import INSIDE, OWN_AGENT, ClientId, ProjectId
from handrail.core.project import Client
from handrail.plane.names import NameBook
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household


class CountingStore:
    """A store's names, and how often they were read."""

    def __init__(self, store: SqliteStore):
        self._store = store
        self.reads = 0

    async def list_names(self, project_id: ProjectId) -> dict[str, str]:
        self.reads += 1
        return await self._store.list_names(project_id)


async def test_agents_machines_people_and_the_built_in_ones_have_names(
    store: SqliteStore, household: Household
) -> None:
    ids = (household.agent.subject, household.client_id, household.user.subject, None)

    names = await NameBook(store).of(household.project.id, ids)

    assert names[household.agent.subject] == "test"
    assert names[household.client_id] == "here"
    assert names[household.user.subject] == "ada"
    assert (names[OWN_AGENT], names[INSIDE]) == ("Handrail agent", "this server")


async def test_the_store_is_read_only_for_an_id_that_is_new(
    store: SqliteStore, household: Household
) -> None:
    counting = CountingStore(store)
    book = NameBook(counting)  # pyright: ignore[reportArgumentType]
    project = household.project

    for _ in range(3):
        await book.of(project.id, (household.agent.subject, OWN_AGENT, None))
        await book.of(project.id, ("agt_nameless",))
    assert counting.reads == 2

    at = project.created_at
    later = Client(ClientId("cli_later"), project.id, household.workspace.id, "there", at)
    await store.submit(Change(project.id, at, (Add(later),)))
    names = await book.of(project.id, ("cli_later",))
    assert (names["cli_later"], counting.reads) == ("there", 3)
