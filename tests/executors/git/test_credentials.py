"""A credential comes from the person's own helpers, goes to one host, and goes once."""

import asyncio
import os
import subprocess
from base64 import b64encode
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.git.credentials import Credential, Remote, ask_helpers
from handrail.executors.git.guard import GitGuard
from handrail.executors.git.handing import NO_CREDENTIAL, HandIn, handed_in
from tests.executors.git.http_remote import PASSWORD, USERNAME, HttpRemote, http_remote
from tests.executors.git.plants import PLAIN

OTHER = Remote.of("https://other.example.com/a.git")


@pytest.fixture
def remote(tmp_path: Path) -> Generator[HttpRemote]:
    folder = tmp_path / "served"
    folder.mkdir()
    with http_remote(folder) as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, remote: HttpRemote) -> dict[str, str]:
    """The environment of a person whose helper keeps what it knows in a file."""
    folder = tmp_path / "home"
    folder.mkdir()
    kept = folder / "kept"
    host = remote.address.removeprefix("http://")
    kept.write_text(
        f"http://{USERNAME}:{PASSWORD.replace(' ', '%20').replace('/', '%2f')}@{host}\n"
        "https://ada:of-another@other.example.com\n"
    )
    (folder / ".gitconfig").write_text(f"[credential]\n\thelper = store --file={kept}\n")
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}


def remembering(home: dict[str, str], settings: str) -> None:
    (Path(home["HOME"]) / ".gitconfig").write_text(settings)


async def test_the_persons_own_helper_is_asked(remote: HttpRemote, home: dict[str, str]) -> None:
    found = await ask_helpers(Remote.of(remote.url("a.git")), home)

    assert found == Credential(USERNAME, PASSWORD)
    assert PASSWORD not in repr(found)


async def test_where_nothing_is_known_nobody_is_asked(home: dict[str, str]) -> None:
    asked = Path(home["HOME"]) / "asked"
    program = Path(home["HOME"]) / "ask"
    program.write_text(f"#!/bin/sh\ntouch {asked}\necho guessed\n")
    program.chmod(0o755)
    remembering(home, f"[core]\n\taskPass = {program}\n")
    at_a_screen = {
        **home,
        "GIT_ASKPASS": str(program),
        "SSH_ASKPASS": str(program),
        "GIT_TERMINAL_PROMPT": "1",
    }

    assert await ask_helpers(Remote.of("https://unknown.example.com/x"), at_a_screen) is None
    assert not asked.exists()


async def test_a_repository_has_no_say(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    sh(planted, "git init -q . && git config credential.helper '!echo password=evil; echo x'")
    monkeypatch.chdir(planted)
    led_there = {**home, "GIT_DIR": str(planted / ".git"), "GIT_CONFIG_COUNT": "1"}
    led_there |= {"GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": "!false"}

    assert await ask_helpers(OTHER, led_there) == Credential("ada", "of-another")


async def test_a_helper_that_takes_too_long_is_ended(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.executors.git.credentials._SECONDS", 0.5)
    started = tmp_path / "started"
    remembering(home, f'[credential]\n\thelper = "!echo $$ > {started}; exec sleep 600; :"\n')

    assert await ask_helpers(OTHER, home) is None

    pid = int(started.read_text())
    ended = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    assert ended.stdout.strip()[:1] in (b"", b"Z")


@pytest.mark.parametrize(
    "said",
    [
        *("", "username=ada", "password=x", "username=\npassword="),
        f"username=ada\npassword={'x' * 5_000}",
        "host=evil.example\nusername=ada\npassword=x",
        "protocol=http\nusername=ada\npassword=x",
    ],
)
async def test_what_is_no_credential_for_this_host_is_none(home: dict[str, str], said: str) -> None:
    told = Path(home["HOME"]) / "said"
    told.write_text(f"{said}\n")
    remembering(home, f'[credential]\n\thelper = "!cat {told}; :"\n')

    assert await ask_helpers(OTHER, home) is None


async def test_a_path_counts_where_the_person_says_so(home: dict[str, str]) -> None:
    kept = Path(home["HOME"]) / "kept"
    kept.write_text("https://a:first@h.example/one.git\nhttps://b:second@h.example/two.git\n")
    remembering(home, f"[credential]\n\thelper = store --file={kept}\n\tuseHttpPath = true\n")

    assert await ask_helpers(Remote.of("https://h.example/two.git"), home) == Credential(
        "b", "second"
    )
    assert await ask_helpers(Remote.of("https://h.example/three.git"), home) is None


async def test_a_name_in_the_address_counts(home: dict[str, str]) -> None:
    kept = Path(home["HOME"]) / "kept"
    kept.write_text("https://a:first@h.example\nhttps://b:second@h.example\n")

    assert await ask_helpers(Remote.of("https://b@h.example/x"), home) == Credential("b", "second")


@pytest.mark.parametrize(
    "address",
    [
        *("http://example.com/x", "ssh://example.com/x", "git@example.com:x", "file:///x", "", "x"),
        *("https:///x", "https://exa mple.com/x", "https://a%0ahost=evil@h.example/x"),
        *(
            "https://h.example/x%0ahost=evil",
            "https://h.example/x\nhost=evil",
            "https://h.ex\\@e/x",
        ),
        *(
            "https://h.example\0.evil/x",
            "https://h_x/y",
            "https://[::1/x",
            "https://ünder.example/x",
        ),
        *("http://127.0.0.1.evil.example/x", "http://localhost.evil.example/x", "https://-h/x"),
        *("https://h.example/%ff", "https://h.example/%00"),
    ],
)
def test_to_an_address_that_could_mislead_none_is_given(address: str) -> None:
    with pytest.raises(CommandExecutionError, match=r"^no credential is given out: "):
        Remote.of(address)


def test_an_address_is_taken_apart() -> None:
    assert Remote.of("https://ada@H.Example:8443/team/a.git") == Remote(
        "https", "h.example:8443", "team/a.git", "ada", "https://H.Example:8443/team/a.git"
    )
    assert Remote.of("http://[::1]:80/a").url == "http://[::1]:80"


def sh(folder: Path, lines: str) -> None:
    subprocess.run(["sh", "-ec", lines], cwd=folder, env=PLAIN, check=True, capture_output=True)


async def git(
    folder: Path, line: str, given: HandIn = NO_CREDENTIAL
) -> subprocess.CompletedProcess[bytes]:
    """git with all that it is given in a box; here in the open, below a shell that starts it."""
    names = ("user.name", "user.email")
    guard = GitGuard(str(folder), [(name, "a@b.c") for name in names])
    argv = ("git", *line.split())
    variables = guard.environment(Stage(argv, Profile.NET), [], given.settings)
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", '"$@"; exit $?', "sh", *argv),
        cwd=folder,
        env={"PATH": PLAIN["PATH"], "HOME": "/nowhere", **dict(variables)},
        pass_fds=given.fds,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    with given.answering(process.pid):
        async with asyncio.timeout(30):
            out, err = await process.communicate()
    return subprocess.CompletedProcess(argv, process.returncode or 0, out, err)


@pytest.fixture
def clone(tmp_path: Path, remote: HttpRemote) -> Path:
    """A repository with something to push to the remote, where nothing is yet."""
    remote.make("a.git")
    made = tmp_path / "ws"
    made.mkdir()
    sh(made, "git init -q -b main . && echo one > a.txt && git add . && git commit -qm first")
    sh(made, f"git remote add origin {remote.url('a.git')}")
    return made


async def test_without_it_the_remote_is_closed(clone: Path, remote: HttpRemote) -> None:
    pushed = await git(clone, "push origin main")

    assert pushed.returncode == 128
    assert {words for _, words in remote.visits} == {None}


async def test_with_it_one_pushes_and_fetches_and_clones(
    clone: Path, remote: HttpRemote, home: dict[str, str], tmp_path: Path
) -> None:
    place = Remote.of(remote.url("a.git"))
    credential = await ask_helpers(place, home)
    assert credential is not None
    for line in (
        "push -u origin main",
        "fetch --tags",
        "pull",
        f"clone -q {remote.url('a.git')} lib",
    ):
        with handed_in(credential, place, line.split()[0]) as given:
            ran = await git(clone, line, given)

        assert ran.returncode == 0, ran.stderr
        assert PASSWORD.encode() not in ran.stdout + ran.stderr

    assert (clone / "lib" / "a.txt").read_text() == "one\n"
    left = subprocess.run(
        ["grep", "-rl", PASSWORD, str(clone), str(remote.folder)], capture_output=True, check=False
    )
    assert left.stdout == b""


async def test_it_can_be_read_once(clone: Path, remote: HttpRemote) -> None:
    place = Remote.of(remote.url("a.git"))
    with handed_in(Credential(USERNAME, PASSWORD), place, "push") as given:
        first = await git(clone, "push origin main", given)
        second = await git(clone, "fetch", given)

    assert (first.returncode, second.returncode) == (0, 128), second.stderr


async def test_another_host_does_not_get_it(clone: Path, remote: HttpRemote) -> None:
    with handed_in(Credential(USERNAME, PASSWORD), OTHER, "push") as given:
        pushed = await git(clone, "push origin main", given)

    assert pushed.returncode == 128
    assert {words for _, words in remote.visits} == {None}


async def test_nor_does_another_port_or_protocol(clone: Path, remote: HttpRemote) -> None:
    port = int(remote.address.rpartition(":")[2])
    for address in (f"http://127.0.0.1:{port + 1}/x", f"https://127.0.0.1:{port}/x"):
        place = Remote.of(address)
        with handed_in(Credential(USERNAME, PASSWORD), place, "push") as given:
            assert (await git(clone, "push origin main", given)).returncode == 128

    assert {words for _, words in remote.visits} == {None}


@pytest.mark.parametrize(
    ("path", "action"),
    [("b.git", "push"), ("a.git", "fetch"), ("a.git", "pull"), ("a.git", "remote-http")],
)
async def test_nor_does_another_repository_of_the_host_or_who_does_something_else(
    clone: Path, remote: HttpRemote, path: str, action: str
) -> None:
    place = Remote.of(remote.url(path))
    with handed_in(Credential(USERNAME, PASSWORD), place, action) as given:
        pushed = await git(clone, "push origin main", given)

    assert pushed.returncode == 128
    assert {words for _, words in remote.visits} == {None}


async def test_it_is_in_no_word_and_no_variable(clone: Path, remote: HttpRemote) -> None:
    place = Remote.of(remote.url("a.git"))
    with handed_in(Credential(USERNAME, PASSWORD), place, "push") as (settings, fds, _):
        given = GitGuard(str(clone)).environment(Stage(("git",), Profile.NET), [], settings)

        assert PASSWORD not in repr((given, settings))
        assert not os.get_inheritable(fds[0])
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fds[0])


def test_what_is_printed_has_it_masked_however_it_is_written() -> None:
    credential = Credential("ada", "a/b c")
    basic = b64encode(b"ada:a/b c")
    words = b"a/b c, a%2Fb%20c, a%2fb%20c, Basic " + basic + b", ada"

    assert credential.mask(words) == b"****, ****, ****, Basic ****, ada"
    assert Credential("ada", "x").mask(b"") == b""
