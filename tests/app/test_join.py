"""A machine joins a server elsewhere only over a line that nobody can read."""

from pathlib import Path

import pytest

from handrail.app.home import Credentials, Home
from handrail.app.join import join
from handrail.app.run_server import serve
from handrail.app.settings import Settings
from handrail.core.errors import SetupError
from tests.app.conftest import running

TOKEN = "hr_client_x"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "laptop")


async def test_a_machine_that_is_let_in_is_known_from_then_on(
    settings: Settings, workspace: Path, home: Home
) -> None:
    async with running(serve, settings, workspace) as known:
        joined = await join(
            home, workspace, f"{known.server}/", known.project_id, known.client_token
        )

    assert joined == Credentials(
        known.server, known.project_id, str(workspace), "", known.client_token, ""
    )
    assert home.find_credentials(workspace) == joined


async def test_a_folder_that_has_a_project_is_not_taken_from_it(
    workspace: Path, home: Home
) -> None:
    home.create()
    own = Credentials("http://127.0.0.1:1", "prj_own", str(workspace), "u", "c", "a")
    home.save_credentials(own)

    with pytest.raises(SetupError, match="belongs to project prj_own"):
        await join(home, workspace, "https://handrail.test", "prj_other", TOKEN)

    assert home.find_credentials(workspace) == own


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("http://handrail.test:8000", "unencrypted"),
        ("http://10.0.0.1", "unencrypted"),
        ("handrail.test", "is not the address of a server"),
        ("ftp://handrail.test", "is not the address of a server"),
        ("https://handrail.test/path", "is not the address of a server"),
        ("https://", "is not the address of a server"),
        ("http://127.0.0.1:1", "does not answer"),
    ],
)
async def test_a_token_is_sent_to_nobody_who_could_be_anybody(
    workspace: Path, home: Home, server: str, told: str
) -> None:
    with pytest.raises(SetupError, match=told):
        await join(home, workspace, server, "prj_1", TOKEN)

    assert home.find_credentials(workspace) is None


@pytest.mark.parametrize("token", ["hr_agent_x", "hr_user_x", ""])
async def test_only_a_clients_token_connects_a_machine(
    workspace: Path, home: Home, token: str
) -> None:
    with pytest.raises(SetupError, match="hr_client_"):
        await join(home, workspace, "https://handrail.test", "prj_1", token)
