"""The names of agents and machines that people read beside, or instead of, their ids."""

from collections.abc import Mapping

from handrail.core.ids import INSIDE, OWN_AGENT
from handrail.core.visible import cut, visible

# Names by id; an id without a name is missing.
Names = Mapping[str, str]

# These two have no token and no row.
BUILT_IN: Names = {OWN_AGENT: "Handrail agent", INSIDE: "this server"}

_MAX_CHARS = 100


def shown_name(name: str) -> str:
    """A name as it is safe to show: invisible characters escaped, and not too long."""
    return cut(visible(name), _MAX_CHARS)


def name_or_id(name: str | None, id_: str) -> str:
    """The name to show to people; without one, a short form of the id."""
    end = id_.removeprefix("agt_")
    return name or (id_ if end == id_ else f"agent …{end[-6:]}")
