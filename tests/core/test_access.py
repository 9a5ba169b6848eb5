import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from handrail.core.access import Principal, Role, Token, hash_secret, new_secret
from handrail.core.ids import ProjectId, TokenId, UserId, WorkspaceId

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
TOKEN = Token(
    TokenId("tok_1"),
    "hash",
    Role.CLIENT,
    "cli_1",
    UserId("usr_1"),
    ProjectId("prj_1"),
    WorkspaceId("wsp_1"),
    "laptop",
    NOW,
)


@pytest.mark.parametrize(
    ("role", "start"),
    [(Role.USER, "hr_user_"), (Role.CLIENT, "hr_client_"), (Role.AGENT, "hr_agent_")],
)
def test_secret_shows_its_role_to_whoever_finds_it(role: Role, start: str) -> None:
    assert re.fullmatch(rf"{start}[\w-]{{43}}", new_secret(role))


def test_no_two_secrets_are_alike() -> None:
    assert len({new_secret(Role.AGENT) for _ in range(1_000)}) == 1_000


def test_hash_gives_nothing_of_the_secret_away() -> None:
    secret = new_secret(Role.USER)
    assert re.fullmatch("[0-9a-f]{64}", hash_secret(secret))
    assert secret not in hash_secret(secret)


def test_hash_is_the_same_for_the_same_secret_only() -> None:
    assert hash_secret("hr_user_a") == hash_secret("hr_user_a")
    assert hash_secret("hr_user_a") != hash_secret("hr_user_b")


@pytest.mark.parametrize(
    ("token", "live"),
    [
        (TOKEN, True),
        (replace(TOKEN, expires_at=NOW + SECOND), True),
        (replace(TOKEN, expires_at=NOW), False),
        (replace(TOKEN, expires_at=NOW - SECOND), False),
        (replace(TOKEN, revoked_at=NOW), False),
        (replace(TOKEN, revoked_at=NOW, expires_at=NOW + SECOND), False),
    ],
    ids=["unlimited", "before-its-end", "at-its-end", "after-its-end", "revoked", "both"],
)
def test_token_is_live_until_it_ends_or_is_revoked(token: Token, live: bool) -> None:
    assert token.is_live(NOW) is live


def test_token_speaks_for_its_principal() -> None:
    assert TOKEN.principal == Principal(
        Role.CLIENT, "cli_1", UserId("usr_1"), ProjectId("prj_1"), WorkspaceId("wsp_1")
    )
