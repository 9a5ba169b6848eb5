"""Handrail's own folder: the database, and this person's credentials, readable by no one else."""

import json
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from handrail.app.locks import held, held_folder
from handrail.app.private_file import write_private
from handrail.core.access import Role
from handrail.core.configuration import CONFIG_FILE
from handrail.core.errors import SetupError

# What a person writes here by hand; everything else is Handrail's own.
WRITTEN_BY_HAND = ("policy.toml", "skills", "tools", CONFIG_FILE)

# Whoever changes credentials is done in a moment; those who come meanwhile wait for that.
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Credentials:
    """What this machine needs to take part in one project.

    A machine that was let in by its client's token alone has no others; they are empty then.
    """

    server: str
    project_id: str
    workspace: str
    user_token: str
    client_token: str
    agent_token: str

    def token_for(self, role: Role) -> str:
        """What to speak with in a role; a client's token stands in for its person's.

        Raises:
            SetupError: This machine has no such token.
        """
        own = {Role.CLIENT: self.client_token, Role.AGENT: self.agent_token}
        own[Role.USER] = self.user_token or self.client_token
        if secret := own.get(role):
            return secret
        raise SetupError(
            f"this machine has no token for the role {role}; where the server runs, "
            f"`handrail token create --role {role}` creates one"
        )

    def with_secret(self, role: Role, secret: str) -> "Credentials":
        match role:
            case Role.USER:
                return replace(self, user_token=secret)
            case Role.CLIENT:
                return replace(self, client_token=secret)
            case Role.AGENT:
                return replace(self, agent_token=secret)
            case Role.APPROVER:
                raise SetupError("a folder does not store the token of an approver")


class Home:
    def __init__(self, path: Path):
        self.path = path

    @property
    def database(self) -> Path:
        return self.path / "handrail.db"

    @property
    def audit_key(self) -> Path:
        """What the checkpoints of the records are signed with."""
        return self.path / "audit.key"

    @property
    def log(self) -> Path:
        """What is logged where a person decides in the terminal."""
        return self.path / "handrail.log"

    @property
    def skills(self) -> Path:
        """The skills that the person has written, a folder for each."""
        return self.path / "skills"

    @property
    def tools(self) -> Path:
        return self.path / "tools"

    @property
    def config(self) -> Path:
        """The settings that the person has made."""
        return self.path / CONFIG_FILE

    @property
    def keys(self) -> Path:
        """Which keys of providers are kept, and where."""
        return self.path / "provider-keys.json"

    @property
    def pages(self) -> Path:
        """The pages that take a browser to the console; each is removed after a minute."""
        return self.path / "browser"

    @property
    def backups(self) -> Path:
        """The default folder for backups."""
        return self.path / "backups"

    @property
    def checkpoints(self) -> Path:
        return self.path / "audit"

    def is_used(self) -> bool:
        """Whether a server has run on this folder: its database and its key are in it."""
        return self.database.is_file() and self.audit_key.is_file()

    def create(self) -> None:
        """Make the folder, closed to other users; close what earlier versions have left open.

        Raises:
            SetupError: It cannot be made, or others can put files into it.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.name == "posix" and self.path.stat().st_mode & 0o022:
                raise SetupError(
                    f"other users can write to {self.path}, Handrail's own folder; close it with "
                    f"`chmod go= {self.path}`, or choose another with --home"
                )
            self._credentials_folder.mkdir(mode=0o700, exist_ok=True)
            if self._journals.is_dir() and self._journals.stat().st_mode & 0o077:
                self._journals.chmod(0o700)
        except OSError as error:
            raise SetupError(f"cannot make {self.path}: {error.strerror}") from error

    def is_served(self) -> bool:
        """Whether a server runs on this folder."""
        if not self.path.is_dir():
            return False
        try:
            with self._kept_from_servers("", make_files=False):
                return False
        except SetupError:
            return True

    @contextmanager
    def serving(self) -> Generator[None]:
        """Be the one server of this folder, for as long as the context is open.

        Raises:
            SetupError: Another process is.
        """
        trouble = (
            f"another Handrail server is running on {self.path}; stop it, "
            "or give this one its own folder with --home"
        )
        with self._kept_from_servers(trouble, make_files=True):
            yield

    @contextmanager
    def _kept_from_servers(self, trouble: str, *, make_files: bool) -> Generator[None]:
        """Hold the lock of the server.

        It is on the folder itself: a lock file can be deleted while it is held, and the next one
        to make it would hold another. The file is locked too, for versions that know only it.
        """
        file = self.path / "server.lock"
        with ExitStack() as stack:
            stack.enter_context(held_folder(self.path, trouble))
            if make_files or (file.is_file() and not file.is_symlink()):
                stack.enter_context(held(file, trouble))
            yield

    @contextmanager
    def exchanging(self) -> Generator[None]:
        """Be the only one who changes credentials, for as long as the context is open.

        Raises:
            SetupError: Another process is.
        """
        trouble = "another `handrail token` is running and does not end; check what it waits for"
        with held(self.path / "token.lock", trouble, patience_seconds=_PATIENCE_SECONDS):
            yield

    @contextmanager
    def setting_up(self) -> Generator[None]:
        """Be the only one who changes settings and keys, for as long as the context is open.

        Raises:
            SetupError: Another process is.
        """
        self.create()
        trouble = "another `handrail config` is running and does not end; check what it waits for"
        with held(self.path / "config.lock", trouble, patience_seconds=_PATIENCE_SECONDS):
            yield

    @contextmanager
    def acting_for(self, workspace: Path) -> Generator[None]:
        """Be the one client of a workspace, for as long as the context is open.

        Raises:
            SetupError: Another process is.
        """
        lock = self._credentials_file(workspace).with_suffix(".lock")
        with held(lock, f"a Handrail client is already running for {workspace}; one is enough"):
            yield

    def has_client(self, workspace: Path) -> bool:
        if not self._credentials_file(workspace).exists():
            return False
        try:
            with self.acting_for(workspace):
                return False
        except SetupError:
            return True

    def journal_folder(self, credentials: Credentials) -> Path:
        """Where the client of a workspace notes what it has begun for this project."""
        key = _key(Path(credentials.workspace))
        return self._journals / f"{key}-{credentials.project_id}"

    def find_credentials(self, workspace: Path) -> Credentials | None:
        return _read(self._credentials_file(workspace))

    def all_credentials(self) -> list[Credentials]:
        return self._read_all("*.json")

    def prepared_credentials(self) -> list[Credentials]:
        """What was prepared and, because somebody died, neither saved nor dropped."""
        return self._read_all("*.next")

    def list_credentials(self) -> list[Credentials]:
        """All that are here and can be read."""
        found: list[Credentials] = []
        for file in sorted(self._credentials_folder.glob("*.json")):
            with suppress(OSError, ValueError, TypeError):
                found.append(Credentials(**json.loads(file.read_bytes())))
        return found

    @contextmanager
    def at_rest(self) -> Generator[None]:
        """Keep every server and client off this folder, for as long as the context is open.

        Raises:
            SetupError: One is running.
        """
        trouble = f"Handrail is running on {self.path}; stop it first (Ctrl+C where it runs)"
        clients = {
            _key(Path(one.workspace)): f"a client for {one.workspace} is running; stop it first"
            for one in self.list_credentials()
        }
        with ExitStack() as stack:
            stack.enter_context(self._kept_from_servers(trouble, make_files=False))
            for lock in self._credentials_folder.glob("*.lock"):
                if lock.is_file() and not lock.is_symlink():
                    stack.enter_context(held(lock, clients.get(lock.stem, trouble)))
            yield

    def set_aside(self, at: datetime) -> Path | None:
        """Move what belongs to the database into a folder of its own; None if there is nothing.

        Settings stay, and so do the credentials of machines that another server let in.

        Raises:
            SetupError: A server or a client is running here, or a file cannot be moved.
        """
        with self.at_rest():
            local = {
                self._credentials_file(Path(known.workspace))
                for known in self.list_credentials()
                if known.user_token
            }
            rooted = (self.audit_key, self.checkpoints, self.path / "blobs")
            files = [*self.path.glob(f"{self.database.name}*"), *rooted, *sorted(local)]
            found = [file for file in files if os.path.lexists(file)]
            if not found:
                return None
            aside = self.path / f"old-{at:%Y%m%d-%H%M%S}"
            try:
                aside.mkdir(mode=0o700)
                for file in found:
                    place = aside / file.relative_to(self.path)
                    place.parent.mkdir(mode=0o700, exist_ok=True)
                    file.rename(place)
            except OSError as error:
                raise SetupError(f"{error.filename} cannot be moved: {error.strerror}") from error
        return aside

    def get_credentials(self, workspace: Path) -> Credentials:
        """The credentials for a folder, or for the nearest folder above it that has some."""
        here = workspace.resolve()
        for folder in (here, *here.parents):
            if (found := self.find_credentials(folder)) is not None:
                return found
        raise SetupError(
            f"{here} is not set up for Handrail yet; `handrail up` sets it up and starts, "
            "`handrail init` only sets it up, or name another folder"
        )

    def save_credentials(self, credentials: Credentials) -> None:
        _write(self._credentials_file(Path(credentials.workspace)), credentials)
        self.drop_prepared(credentials)

    def prepare_credentials(self, credentials: Credentials) -> None:
        """Note new secrets beside the old ones, for as long as it is open which of them count."""
        _write(self._prepared_file(credentials), credentials)

    def drop_prepared(self, credentials: Credentials) -> None:
        self._prepared_file(credentials).unlink(missing_ok=True)

    @property
    def _journals(self) -> Path:
        return self.path / "journal"

    @property
    def _credentials_folder(self) -> Path:
        return self.path / "credentials"

    def _credentials_file(self, workspace: Path) -> Path:
        return self._credentials_folder / f"{_key(workspace)}.json"

    def _prepared_file(self, credentials: Credentials) -> Path:
        return self._credentials_file(Path(credentials.workspace)).with_suffix(".next")

    def _read_all(self, pattern: str) -> list[Credentials]:
        found = map(_read, sorted(self._credentials_folder.glob(pattern)))
        return [credentials for credentials in found if credentials is not None]


def _key(workspace: Path) -> str:
    return sha256(os.fsencode(workspace)).hexdigest()[:16]


def _read(file: Path) -> Credentials | None:
    try:
        return Credentials(**json.loads(file.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise SetupError(f"{file} cannot be read; remove it and start again") from error


def _write(file: Path, credentials: Credentials) -> None:
    write_private(file, json.dumps(asdict(credentials), indent=2))
