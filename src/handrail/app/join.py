"""Joining a server that runs elsewhere, with a token that was made there."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from handrail.app.home import Credentials, Home
from handrail.app.workspace_root import usable_root
from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.core.access import Role
from handrail.core.address import is_loopback
from handrail.core.errors import SetupError


async def join(
    home: Home, workspace: Path, server: str, project_id: str, token: str
) -> Credentials:
    """Save what this folder needs to take part in a project there, once the server has agreed.

    Raises:
        SetupError: It has not, nobody answers, or the folder has another project already.
    """
    home.create()
    root = usable_root(home, workspace)
    known = home.find_credentials(root)
    if known is not None and known.project_id != project_id:
        raise SetupError(
            f"{root} already belongs to project {known.project_id} on {known.server}; "
            "use another folder, or another --home"
        )
    address = _safe(server)
    if not token.startswith(f"hr_{Role.CLIENT}_"):
        raise SetupError("a machine connects with a client's token, which begins with hr_client_")
    try:
        async with HandrailApi(address, project_id, token) as api:
            await api.get("/clients")
    except ApiError as error:
        raise SetupError(f"{address} refused the connection: {error}") from error
    except ServerUnreachable as error:
        raise SetupError(error.message) from error
    credentials = Credentials(address, project_id, str(root), "", token, "")
    if known is not None and known.server == address:
        # Keys of another server are nothing to show to this one.
        credentials = replace(known, client_token=token)
    home.save_credentials(credentials)
    return credentials


def _safe(server: str) -> str:
    """A token is told to nobody on the way: https, or no way at all."""
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise SetupError(f"{server!r} is not the address of a server, like https://host:8000")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise SetupError(
            f"{server} would send the token unencrypted; use https for a server on another machine"
        )
    return f"{parts.scheme}://{parts.netloc}"
