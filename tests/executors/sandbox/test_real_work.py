"""What people have commands do all day works in a box as it does outside: tests, builds, git."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.outcome import CommandOutcome, Ending
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.sandbox.box import Box, Programs
from handrail.executors.toolchains.toolchain import FOLDER, Toolbelt, toolchain_at
from tests.executors.conftest import one

PROJECT = Path(__file__).parents[3]
BASE = Path(sys.base_prefix).resolve()
PACKAGES = sysconfig.get_paths()["purelib"]
# Other tests may be running beside this one, on few cores.
ENOUGH_SECONDS = 120


@pytest.fixture
def belt() -> Toolbelt:
    """The Python of the tests and the packages beside it, as a person would have allowed them."""
    places = (BASE, Path(sys.prefix).resolve())
    return Toolbelt(tuple(toolchain_at(str(place), FOLDER) for place in dict.fromkeys(places)))


@pytest.fixture
def executor(
    root: Path, programs: Programs, isolation: Isolation, guarded: GuardedNames, belt: Toolbelt
) -> CommandExecutor:
    search_path = belt.search_path(SEARCH_PATH)
    return CommandExecutor(
        root,
        box=Box(programs, isolation, guarded, belt.mounts, search_path),
        search_path=search_path,
        toolchains=belt.mounts,
        identity=[("user.name", "Ada"), ("user.email", "ada@example.com")],
    )


async def work(executor: CommandExecutor, *argv: str, profile: Profile = Profile.WRITE) -> str:
    """What it printed; it must have ended well."""
    outcome = await executor.run(one(argv, profile), timeout_seconds=ENOUGH_SECONDS)
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 0), _in_words(outcome)
    return outcome.stdout.decode()


def _in_words(outcome: CommandOutcome) -> str:
    return (outcome.stdout + outcome.stderr).decode(errors="replace")


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if shutil.which(name, path=":".join(SEARCH_PATH)) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed here: {', '.join(missing)}")


def make_environment(root: Path, python: Path) -> None:
    """A virtual environment as people make them, without the packages it has no need of here."""
    command = [str(python), "-m", "venv", "--without-pip", str(root / ".venv")]
    subprocess.run(command, check=True, timeout=ENOUGH_SECONDS)


# Python


@pytest.mark.timeout(ENOUGH_SECONDS)
async def test_this_projects_own_tests_pass(executor: CommandExecutor, root: Path) -> None:
    shutil.copytree(PROJECT / "src", root / "src")
    (root / "tests").mkdir()
    for name in ("pyproject.toml", "tests/conftest.py", "tests/selection.py"):
        shutil.copy(PROJECT / name, root / name)
    for name in ("core/test_box.py", "core/test_pattern.py", "store/test_audit_key.py"):
        (root / "tests" / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / "tests" / name, root / "tests" / name)
    make_environment(root, BASE / "bin" / "python3")
    (site,) = (root / ".venv/lib").glob("python3*/site-packages")
    (site / "project.pth").write_text(f"{root / 'src'}\n{PACKAGES}\n")

    said = await work(executor, ".venv/bin/python", "-m", "pytest", "-q", "tests")

    assert " passed in " in said


@pytest.mark.parametrize("python", [BASE / "bin" / "python3", Path("/usr/bin/python3")], ids=str)
async def test_an_environment_works_whichever_python_it_was_made_from(
    executor: CommandExecutor, root: Path, python: Path
) -> None:
    if not python.exists():
        pytest.skip(f"there is no {python}")
    make_environment(root, python)
    (root / "test_sums.py").write_text(
        "import sys, unittest\n\n"
        "class Sums(unittest.TestCase):\n"
        "    def test_sum(self):\n"
        f"        self.assertEqual(sys.prefix, {str(root / '.venv')!r})\n"
    )
    outcome = await executor.run(
        one([".venv/bin/python", "-m", "unittest", "-v"]), timeout_seconds=ENOUGH_SECONDS
    )
    assert outcome.exit_code == 0, _in_words(outcome)
    assert b"Ran 1 test" in outcome.stderr


async def test_an_environment_can_be_made_in_the_box(executor: CommandExecutor, root: Path) -> None:
    await work(executor, "python3", "-m", "venv", "--without-pip", "made")
    said = await work(executor, "made/bin/python", "-c", "import sys; print(sys.prefix)")
    assert said.strip() == str(root / "made")


# What programs look for while they work, each of them found missing in some box or other.
NEEDS = """
import asyncio, ctypes, fcntl, getpass, json, locale, mmap, multiprocessing, os, platform, pty
import pwd, socket, sqlite3, ssl, subprocess, tempfile, threading, time, traceback, zoneinfo
from multiprocessing.shared_memory import SharedMemory

def name_of_user():
    assert getpass.getuser() == pwd.getpwuid(os.getuid()).pw_name

def localhost():
    for name in ("localhost", socket.gethostname()):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection((name, port), 5) as line, server.accept()[0] as other:
                other.sendall(b"hello")
                assert line.recv(5) == b"hello"

def localhost_6():
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        socket.create_connection(server.getsockname()[:2], 5).close()

def services():
    assert socket.getservbyname("http") == 80 and socket.getprotobyname("tcp") == 6

def unix_socket():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.join(tempfile.mkdtemp(), "s"))

def semaphores():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]

def shared_memory():
    memory = SharedMemory(create=True, size=100)
    memory.close()
    memory.unlink()

def database():
    with sqlite3.connect("work.db") as base:
        assert base.execute("pragma journal_mode=wal").fetchone() == ("wal",)
        base.execute("create table t(x)")

def locks():
    with open("lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX)

def names():
    open("one", "w").close()
    os.link("one", "two")
    os.symlink("one", "three")
    os.mkfifo("four")
    os.chmod("one", 0o755)
    os.utime("one", (1, 1))
    os.chown("one", os.getuid(), os.getgid())
    for name in ("one", "two", "three", "four"):
        os.remove(name)

def memory_that_runs():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()

def temporary_files():
    for folder in (tempfile.gettempdir(), "/var/tmp", os.path.expanduser("~")):
        with tempfile.NamedTemporaryFile(dir=folder):
            pass

def time_and_place():
    zoneinfo.ZoneInfo("Europe/Berlin")
    time.tzset()
    locale.setlocale(locale.LC_ALL, "")
    assert locale.getpreferredencoding() == "UTF-8"

def terminal():
    pty.openpty()

def devices():
    for name in ("null", "zero", "urandom", "full", "tty", "fd/1", "stdout"):
        assert os.path.lexists("/dev/" + name), name

def facts_of_the_machine():
    assert os.cpu_count() and os.getloadavg() and open("/proc/meminfo").read()
    platform.freedesktop_os_release()

def whom_to_trust():
    assert os.path.exists(ssl.get_default_verify_paths().cafile or "/etc/ssl/certs")

def children():
    assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
    assert os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1] == 0
    async def ask():
        child = await asyncio.create_subprocess_exec("echo", "x", stdout=subprocess.PIPE)
        return (await child.communicate())[0]
    assert asyncio.run(ask()) == b"x\\n"

def threads():
    many = [threading.Thread(target=time.sleep, args=[0.1]) for _ in range(200)]
    [one.start() for one in many] and [one.join() for one in many]

def watching():
    assert ctypes.CDLL(None, use_errno=True).inotify_init1(0) >= 0

def files_open_at_once():
    open_files = [open("/dev/null") for _ in range(2_000)]

if __name__ == "__main__":
    missing = {}
    for need in [
        name_of_user, localhost, localhost_6, services, unix_socket, semaphores, shared_memory,
        database, locks, names, memory_that_runs, temporary_files, time_and_place, terminal,
        devices, facts_of_the_machine, whom_to_trust, children, threads, watching,
        files_open_at_once,
    ]:
        try:
            need()
        except Exception:
            missing[need.__name__] = traceback.format_exc(limit=-1)
    print(json.dumps(missing))
"""


async def test_programs_find_what_they_look_for_while_they_work(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "needs.py").write_text(NEEDS)
    assert json.loads(await work(executor, "python3", "needs.py")) == {}


# Others


@needs("node", "npm")
async def test_a_packages_own_tests_pass(executor: CommandExecutor, root: Path) -> None:
    scripts = {"pretest": "node -p 6*7", "test": "node --test"}
    (root / "package.json").write_text(json.dumps({"name": "small", "scripts": scripts}))
    (root / "test").mkdir()
    (root / "test" / "small.test.js").write_text("""
        const assert = require("node:assert"), test = require("node:test"), http = require("http")
        const { Worker } = require("worker_threads"), { execSync } = require("child_process")

        test("it computes, compiled or not", () => {
          let sum = 0
          for (let i = 0; i < 1e6; i++) sum += i % 7
          assert.ok(sum > 0)
        })
        test("it starts others", () => assert.equal(execSync("echo hi").toString(), "hi\\n"))
        test("it works beside itself", async () => {
          const code = "require('worker_threads').parentPort.postMessage(1)"
          const worker = new Worker(code, { eval: true })
          assert.equal(await new Promise((heard) => worker.on("message", heard)), 1)
        })
        test("it talks to itself", async () => {
          const server = http.createServer((_, answer) => answer.end("x"))
          await new Promise((ready) => server.listen(0, "127.0.0.1", ready))
          const heard = await new Promise((done) =>
            http.get({ host: "localhost", port: server.address().port, family: 4 }, done))
          assert.equal(heard.statusCode, 200)
          heard.resume()
          server.close()
        })
    """)
    said = await work(executor, "npm", "test")
    assert "42\n" in said
    assert re.search(r"^\S+ pass 4$", said, re.M)


@needs("make", "cc")
async def test_a_c_program_is_built_and_runs(executor: CommandExecutor, root: Path) -> None:
    (root / "Makefile").write_text(
        "sum: main.o sum.o\n\t$(CC) -o $@ $^ -lm -lpthread\n\ntest: sum\n\t./sum\n"
    )
    (root / "sum.c").write_text("int sum(int a, int b) { return a + b; }\n")
    (root / "main.c").write_text(
        "#include <stdio.h>\n"
        "int sum(int, int);\n"
        'int main(void) { printf("%d\\n", sum(20, 22)); return 0; }\n'
    )
    assert (await work(executor, "make", "-j2", "test")).endswith("./sum\n42\n")


@needs("git")
async def test_a_change_is_committed(executor: CommandExecutor, root: Path) -> None:
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / "notes.md").write_text("hello\n")
    await work(executor, "git", "add", "notes.md")
    await work(executor, "git", "commit", "-m", "Say hello")
    told = await work(executor, "git", "log", "--format=%an: %s", profile=Profile.READ)
    assert told == "Ada: Say hello\n"
    assert await work(executor, "git", "status", "--short", profile=Profile.READ) == ""


# And no more than that


async def test_nothing_that_runs_can_change_a_toolchain(
    executor: CommandExecutor, belt: Toolbelt
) -> None:
    if not belt.mounts:
        pytest.skip("this Python is the system's, which boxes show anyway")
    try_it = "\n".join(
        [
            "import os, sys",
            "for folder in sys.argv[1:]:",
            "    try:",
            "        open(os.path.join(folder, 'planted'), 'w').close()",
            "    except OSError as error:",
            "        print(error.strerror)",
        ]
    )
    for profile in (Profile.READ, Profile.WRITE):
        said = await work(executor, "python3", "-c", try_it, *belt.mounts, profile=profile)
        assert said.splitlines() == ["Read-only file system"] * len(belt.mounts)
    assert not any(os.path.exists(os.path.join(mount, "planted")) for mount in belt.mounts)


async def test_the_machines_own_list_of_hosts_is_not_shown(executor: CommandExecutor) -> None:
    told = await work(executor, "cat", "/etc/hosts", profile=Profile.READ)
    assert told == "127.0.0.1 localhost box\n::1 localhost box\n"


async def test_an_archive_with_a_colon_is_a_file_here_however_it_is_named(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "a").write_text("x")
    await work(executor, "tar", "cf", "host:a.tar", "a")
    assert (root / "host:a.tar").is_file()


@pytest.mark.parametrize("words", [["-m", "venv"], ["-mvenv"], ["-Bm", "venv"]])
@pytest.mark.parametrize("planted", ["venv.py", "logging.py"])
async def test_a_tool_of_python_runs_nothing_of_the_folder(
    executor: CommandExecutor, root: Path, words: list[str], planted: str
) -> None:
    (root / planted).write_text("open('planted', 'w')")
    assert "usage: venv" in await work(executor, "python3", *words, "--help")
    assert not (root / "planted").exists()


async def test_the_projects_own_modules_are_found_in_its_folder(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "own.py").write_text("print('here')")
    assert await work(executor, "python3", "-m", "own") == "here\n"
