"""Handrail's own affairs, as far as one person and their agents may see and change them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from handrail.agent.reader import PageReader
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.owner import Owner
from handrail.app.provider import Models
from handrail.app.provider_keys import ProviderKeys
from handrail.core.about import ModelFacts, Stats
from handrail.core.budget import BudgetState
from handrail.core.configuration import DAILY_TOKENS, Entry, Shown, why_not_by_agent
from handrail.core.errors import Forbidden, SetupError
from handrail.core.ids import ProjectId, UserId
from handrail.core.ports import Clock, Store
from handrail.plane.budget import Budget
from handrail.policy.redaction import mask_text
from handrail.version import __version__


@dataclass(frozen=True, slots=True)
class PersonalConfig:
    """The settings, for their owner's eyes alone."""

    config: Config
    owner: Owner
    user_id: UserId

    async def show(self) -> Shown:
        await self.owner.check(self.user_id)
        shown = self.config.show()
        return replace(shown, entries=tuple(map(_covered, shown.entries)))

    async def set_for_agent(self, key: str, words: str) -> Entry:
        await self._check(key)
        return await asyncio.to_thread(self.config.set, key, words)

    async def append_for_agent(self, key: str, words: str) -> Entry:
        await self._check(key)
        return await asyncio.to_thread(self.config.append, key, words)

    async def _check(self, key: str) -> None:
        # The tool has refused it before anybody was asked; this holds for whatever else asks.
        await self.owner.check(self.user_id)
        if (why := why_not_by_agent(key)) is not None:
            raise Forbidden(why)


class Affairs:
    """What is told of a server to its people; a few things only to the one who runs it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        home: Home | None = None,
        config: Config | None = None,
        owner: str | None = None,
    ):
        self.config = config or Config(home)
        self.models = Models(self.config, ProviderKeys(home))
        self.budget = Budget(store, clock, lambda: self.config.number(DAILY_TOKENS))
        self.owner = Owner(store, owner)
        self.store = store
        self.clock = clock
        self.home = home
        self.began = clock.now()

    async def is_owner(self, user_id: UserId) -> bool:
        return await self.owner.is_it(user_id)

    def config_of(self, user_id: UserId) -> PersonalConfig:
        return PersonalConfig(self.config, self.owner, user_id)

    def reader_for(self, user_id: UserId, project_id: ProjectId) -> PageReader:
        return PageReader(
            self.models.find, self.budget, self.store, self.clock, user_id, project_id
        )

    def about(self, user_id: UserId, project_id: ProjectId) -> "PersonalView":
        return PersonalView(self, user_id, project_id)


@dataclass(frozen=True, slots=True)
class PersonalView:
    """What one person may know of the server, asked from one of their projects."""

    affairs: Affairs
    user_id: UserId
    project_id: ProjectId

    async def paths(self) -> Mapping[str, str]:
        await self.affairs.owner.check(self.user_id)
        home = self.affairs.home
        if home is None:
            return {}
        found = {
            "home": home.path,
            "settings": home.config,
            "policy": home.path / "policy.toml",
            "skills": home.skills,
            "database": home.database,
            "log": home.log,
        }
        return {name: str(path) for name, path in found.items()}

    async def model(self) -> ModelFacts:
        facts = await asyncio.to_thread(self._model)
        if await self.affairs.owner.is_it(self.user_id):
            return facts
        return ModelFacts(facts.provider, facts.model)

    def _model(self) -> ModelFacts:
        """In a thread: a keyring takes its time."""
        models = self.affairs.models
        try:
            chosen = models.choose()
        except SetupError as error:
            return ModelFacts(trouble=error.message)
        facts = ModelFacts(chosen.provider, chosen.model, chosen.base_url)
        try:
            models.find()
            key = models.show_key(chosen)
        except SetupError as error:
            return replace(facts, key_place=chosen.key_place, trouble=error.message)
        return replace(facts, key=key, key_place=chosen.key_place)

    async def budget(self) -> BudgetState:
        return await self.affairs.budget.state(self.user_id)

    async def stats(self) -> Stats:
        now = self.affairs.clock.now()
        midnight = datetime.combine(now.astimezone(UTC).date(), datetime.min.time(), UTC)
        return Stats(
            version=__version__,
            uptime_seconds=int((now - self.affairs.began).total_seconds()),
            calls_today=await self.affairs.store.count_calls(self.project_id, midnight),
            budget=await self.budget(),
        )


def _covered(entry: Entry) -> Entry:
    return replace(entry, value=mask_text(entry.value)) if isinstance(entry.value, str) else entry
