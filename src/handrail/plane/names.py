"""NameBook: a cache of the names of a project's agents, machines and owner."""

from collections.abc import Iterable

from handrail.core.few import Few
from handrail.core.ids import ProjectId
from handrail.core.names import BUILT_IN, Names, shown_name
from handrail.core.ports import Store


class NameBook:
    """Names never change, so the store is read only when an id is new.

    Other processes add tokens to the store, so a new id can appear at any time.
    """

    def __init__(self, store: Store):
        self._store = store
        self._names: Few[ProjectId, Names] = Few()
        self._nameless: Few[tuple[ProjectId, str], None] = Few()

    async def of(self, project_id: ProjectId, ids: Iterable[str | None]) -> Names:
        """All known names of a project, including those of `ids` if they have one."""
        known = self._names.get(project_id)
        missing = {one for one in ids if one is not None and (known is None or one not in known)}
        if known is not None and all((project_id, one) in self._nameless for one in missing):
            return known
        found = await self._store.list_names(project_id)
        names = {**{key: shown_name(name) for key, name in found.items()}, **BUILT_IN}
        for one in missing - names.keys():
            self._nameless.keep((project_id, one), None)
        return self._names.keep(project_id, names)
