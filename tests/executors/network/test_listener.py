"""Real boxes, with the rights of whoever runs the tests, and with those of an ordinary user."""

import asyncio
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.core.errors import CommandExecutionError
from handrail.executors.network.listener import PROXY_PORT, listen_inside
from tests.executors.network import net_box
from tests.executors.network.net_box import box

SLEEP = ["/bin/sleep", "60"]


def can_make_boxes() -> bool:
    try:
        with box(["/bin/true"]) as made:
            made.release()
            return made.process.wait(20) == 0
    except (OSError, RuntimeError):
        return False


pytestmark = pytest.mark.skipif(
    not can_make_boxes(), reason="there is no bubblewrap here that can make a box"
)


@pytest.fixture(scope="module")
def open_folder() -> Generator[Path]:
    """The program and what it needs, where every user can read them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        package = Path(handrail.__file__).parent
        shutil.copytree(package, folder / "handrail", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(net_box.__file__, folder / "net_box.py")
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
        yield folder


def python_of(user: pwd.struct_passwd) -> str | None:
    """A Python, new enough, that this user can start."""
    for program in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        check = [program, "-I", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            done = subprocess.run(
                check, user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/", check=False
            )
        except OSError:
            continue
        if done.returncode == 0:
            return program
    return None


def run_in_box(who: str, folder: Path, *options: str) -> dict[str, Any]:
    python, rights = sys.executable, dict[str, Any]()
    if who == "nobody":
        if os.geteuid() != 0:
            pytest.skip("an ordinary user runs the tests, so the other half has shown it already")
        user = pwd.getpwnam("nobody")
        rights = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        python = python_of(user) or pytest.skip("no Python of this machine is open to all users")
    done = subprocess.run(
        [python, str(folder / "net_box.py"), *options],
        env={"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        capture_output=True,
        timeout=50,
        check=False,
        **rights,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("options", [(), ("--unshare-user", "--disable-userns")], ids=str)
@pytest.mark.parametrize("who", ["who-runs-the-tests", "nobody"])
def test_a_box_reaches_what_was_approved_and_nothing_else(
    who: str, options: tuple[str, ...], open_folder: Path
) -> None:
    found = run_in_box(who, open_folder, *options)
    place, machine = f"registry.test:{found['port']}", f"127.0.0.1:{found['port']}"
    not_approved = [
        f"{host} is not among the hosts that were approved ({place})"
        for host in ("evil.test:443", machine)
    ]
    assert (found["uid"] == os.geteuid()) is (who != "nobody")
    assert found["met"].pop("a name").startswith("gaierror: ")
    assert found["met"] == {
        "approved": "the package",
        "not approved": f"Handrail: {not_approved[0]}\n",
        "the machine by the proxy": f"Handrail: {not_approved[1]}\n",
        "the machine": "ConnectionRefusedError: Connection refused",
        "outside": "OSError: Network is unreachable",
    }
    assert [contact["host"] for contact in found["contacted"]] == [place]
    assert [refused["reason"] for refused in found["refused"]] == not_approved


def test_a_socket_in_a_box_can_be_had_before_its_loopback_is_up() -> None:
    """A box tells its number first and brings up its network later; here that never happens."""
    boxed = subprocess.Popen(["unshare", "--user", "--map-root-user", "--net", *SLEEP])
    try:
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{boxed.pid}/ns/net") == own:
            time.sleep(0.01)
        with listen_inside(boxed.pid) as listening:
            assert listening.getsockname() == ("127.0.0.1", PROXY_PORT)
    finally:
        boxed.kill()
        boxed.wait()


def test_the_socket_is_inherited_by_nobody() -> None:
    with box(SLEEP) as made, listen_inside(made.pid, 8080) as listening:
        assert listening.getsockname() == ("127.0.0.1", 8080)
        assert not listening.get_inheritable()


def test_the_socket_is_not_one_of_this_machine() -> None:
    with box(SLEEP) as made, listen_inside(made.pid) as listening:
        port = listening.getsockname()[1]
        with socket.socket() as own, pytest.raises(ConnectionRefusedError):
            own.connect(("127.0.0.1", port))


def test_a_process_without_a_network_of_its_own_is_refused() -> None:
    with pytest.raises(CommandExecutionError, match="has no network of its own"):
        listen_inside(os.getpid())


def test_a_process_that_is_not_there_is_refused() -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    with pytest.raises(CommandExecutionError, match=f"process {gone.pid} cannot be opened"):
        listen_inside(gone.pid)


def test_what_the_helper_met_is_told() -> None:
    already = pytest.raises(CommandExecutionError, match="Address already in use")
    with box(SLEEP) as made, listen_inside(made.pid), already:
        listen_inside(made.pid)


def test_nothing_stays_open_whether_it_works_or_not() -> None:
    with box(SLEEP) as made:
        before = set(os.listdir("/proc/self/fd"))
        with listen_inside(made.pid), pytest.raises(CommandExecutionError):
            listen_inside(made.pid)
        with pytest.raises(CommandExecutionError):
            listen_inside(os.getpid())
        assert set(os.listdir("/proc/self/fd")) == before


async def test_it_works_in_a_process_with_many_threads() -> None:
    with box(SLEEP) as made:
        several = [asyncio.to_thread(listen_inside, made.pid, port) for port in range(4000, 4004)]
        for listening in await asyncio.gather(*several):
            listening.close()
