"""What the server answers stays with who has asked."""

from handrail.core.access import Role
from tests.conftest import Household
from tests.server.conftest import Caller, base


async def test_no_answer_is_kept_or_taken_for_something_else(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.USER]

    for path in ("/console/session", f"{base(household)}/approvals", f"{base(household)}/none"):
        headers = (await caller.ask("GET", path, token)).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
