"""What lies in Handrail's own folder, and who answers for it."""

import asyncio
import http.client
import json
import os
import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from handrail.app.audit import verify
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.home import WRITTEN_BY_HAND
from handrail.app.storage import find_home_loss
from handrail.store.faults import WAYS_ON
from handrail.store.look import Look, look_into
from handrail.wire.version import check_wire_version

_LOW_BYTES, _EMPTY_BYTES = 1 << 30, 100 << 20
_ANSWER_SECONDS = 3.0
_QUICK_CHECK_SECONDS = 8.0
_RECORD_SECONDS = 10.0
_MOST_FILES = 100_000
# Nothing secret belongs there, and editors go by the umask.
_BY_HAND = {(name,) for name in WRITTEN_BY_HAND}
_TOLERANCE = timedelta(minutes=5)
_NOT_YET = "`handrail init` creates it"


def check_home(patient: Patient) -> Finding:
    path = patient.home.path
    if not path.exists():
        return Finding("home", Health.NOTE, f"{path} does not exist yet", _NOT_YET)
    for place, found in _everything_in(path):
        if found.st_uid != os.geteuid():
            words = f"{place} belongs to another user"
            remedy = f"take it over: sudo chown -R $(id -u) {path}"
            return Finding("home", Health.BROKEN, words, remedy)
        if _is_open(found) and place.relative_to(path).parts[:1] not in _BY_HAND:
            words = f"{place} is accessible to other users ({stat.S_IMODE(found.st_mode):04o})"
            return Finding("home", Health.BROKEN, words, f"close it: chmod -R go= {path}")
    return Finding("home", Health.FINE, f"{path} is accessible only to you")


def _is_open(found: os.stat_result) -> bool:
    """Whether other users have any right to it; the mode of a symbolic link says nothing."""
    return not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & 0o077)


def check_disk(patient: Patient) -> Finding:
    free = _free_bytes(patient)
    words = f"{free / (1 << 30):,.1f} GB are free for {patient.home.path}"
    if free < _EMPTY_BYTES:
        remedy = "free some space: Handrail will soon be unable to record anything"
        return Finding("disk", Health.BROKEN, words, remedy)
    if free < _LOW_BYTES:
        return Finding("disk", Health.NOTE, words, "free some space before it runs out")
    return Finding("disk", Health.FINE, words)


def _free_bytes(patient: Patient) -> int:
    path = patient.home.path
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def check_database(patient: Patient) -> Finding:
    look = _look(patient)
    if look is not None and look.sound is False:
        return Finding("database", Health.BROKEN, f"it is damaged: {look.trouble}", WAYS_ON)
    if (loss := find_home_loss(patient.home)) is not None:
        return Finding("database", Health.BROKEN, loss, WAYS_ON)
    if look is None:
        return Finding("database", Health.NOTE, "there is no database yet", _NOT_YET)
    if look.is_empty:
        return _empty_database(patient)
    if look.version is None:
        remedy = "move the file away, or choose another --home"
        words = f"{patient.home.database} is not a database of Handrail"
        return Finding("database", Health.BROKEN, words, remedy)
    if not look.is_current:
        words = f"it has version {look.version}, which is not the version of this Handrail"
        remedy = "`handrail up` upgrades an older one; a newer one needs a newer Handrail"
        return Finding("database", Health.NOTE, words, remedy)
    told = "no damage found" if look.sound else "too large to be checked here"
    return Finding("database", Health.FINE, f"version {look.version}, {told}")


def _empty_database(patient: Patient) -> Finding:
    """A first start that did not finish leaves an empty database."""
    if _free_bytes(patient) < _EMPTY_BYTES:
        words = f"it is empty, because the disk that holds {patient.home.path} is full"
        remedy = "free some space, then start Handrail again with `handrail up`"
        return Finding("database", Health.BROKEN, words, remedy)
    words = "it is empty: the first start did not finish"
    return Finding("database", Health.NOTE, words, "`handrail up` sets it up")


def check_record(patient: Patient) -> Finding:
    look = _look(patient)
    if look is None or patient.credentials is None or not look.is_current:
        return Finding("record", Health.NOTE, "there is no audit log of this folder yet")
    project_id = patient.credentials.project_id

    async def prove() -> Finding:
        async with asyncio.timeout(_RECORD_SECONDS):
            found = await verify(patient.home, project_id)
        if found.broken is not None:
            remedy = "keep a copy of everything, and see docs/howto/audit.md"
            return Finding("record", Health.BROKEN, found.broken, remedy)
        if found.last_checkpoint is None:
            words, remedy = (
                f"complete up to line {found.lines:,}, and not sealed yet",
                "`handrail up` seals it",
            )
            return Finding("record", Health.NOTE, words, remedy)
        sealed = found.last_checkpoint.seq
        words = f"complete up to line {found.lines:,}, and sealed up to line {sealed:,}"
        return Finding("record", Health.FINE, words)

    try:
        return asyncio.run(prove())
    except TimeoutError:
        words, remedy = "it is too long to be verified here", "run `handrail audit verify`"
        return Finding("record", Health.NOTE, words, remedy)


def check_clock(patient: Patient) -> Finding:
    """A clock cannot be right if things were written after the present."""
    now = datetime.now(UTC)
    files = [patient.home.database, *patient.home.checkpoints.glob("*.jsonl")]
    written = [datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in files if file.exists()]
    if written and max(written) > now + _TOLERANCE:
        words = (
            f"it is {now:%d %b %Y %H:%M} here, but something was written {max(written):%d %b %Y}"
        )
        return Finding("clock", Health.BROKEN, words, "set the clock: deadlines depend on it")
    return Finding("clock", Health.FINE, f"it is {now:%d %b %Y %H:%M} UTC")


def check_server(patient: Patient) -> Finding:
    if patient.credentials is None:
        words = f"{patient.workspace.resolve()} is not set up for Handrail yet"
        return Finding("server", Health.NOTE, words, "`handrail init` sets it up")
    address = patient.credentials.server
    health = ask_health(address)
    if health is None:
        return Finding(
            "server", Health.NOTE, f"no server is running at {address}", "`handrail up` starts it"
        )
    spoken = str(health.get("wire_version"))
    if (words := check_wire_version(spoken)) is not None:
        return Finding(
            "server", Health.BROKEN, words, "stop it, and start the version that is installed here"
        )
    if (problem := health.get("problem")) is not None:
        return Finding("server", Health.BROKEN, str(problem), f"see the log of {address}")
    return Finding("server", Health.FINE, f"{health.get('version')} answers at {address}")


def check_client(patient: Patient) -> Finding:
    health = None if patient.credentials is None else ask_health(patient.credentials.server)
    if health is None:
        return Finding("client", Health.NOTE, "there is no server to connect to")
    if not health.get("connected_clients"):
        return Finding("client", Health.NOTE, "none is connected", "`handrail connect` starts one")
    return Finding("client", Health.FINE, f"{health['connected_clients']} connected")


def ask_health(address: str) -> dict[str, Any] | None:
    """What a server says of itself; None when none, or something else, answers."""
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/health")
        known: Any = json.loads(connection.getresponse().read(10_000))
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    if not isinstance(known, dict) or "wire_version" not in known:
        return None
    return cast(dict[str, Any], known)


def _look(patient: Patient) -> Look | None:
    if not patient.home.database.exists():
        return None
    return look_into(patient.home.database, _QUICK_CHECK_SECONDS)


def _everything_in(path: Path) -> list[tuple[Path, os.stat_result]]:
    """All that others could get at if the home were open; not what lies below closed folders."""
    found = [(path, path.lstat())]
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            place = Path(folder, name)
            try:
                found.append((place, place.lstat()))
            except FileNotFoundError:
                continue  # A running server comes and goes.
            is_folder = stat.S_ISDIR(found[-1][1].st_mode)
            if is_folder and not _is_open(found[-1][1]) and folder != str(path):
                folders.remove(name)
        if len(found) > _MOST_FILES:
            break
    return found
