"""The steps of a change that use up a grant or end it."""

from dataclasses import dataclass

from handrail.core.grant import Grant
from handrail.core.ids import SessionId


@dataclass(frozen=True, slots=True)
class UseGrant:
    """One call passes on a grant. Refused unless the grant is live and has a use left.

    Refused also while the session of the call is tainted.
    """

    grant: Grant
    session_id: SessionId


@dataclass(frozen=True, slots=True)
class RevokeGrant:
    """The grant covers nothing from now on. Refused if that was so already."""

    grant: Grant


AboutGrants = UseGrant | RevokeGrant
