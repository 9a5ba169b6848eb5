"""Running a foreign program over a draft."""

import asyncio
import os
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.core.rehearsal import CallRef
from handrail.executors.agents.hosts import AskAbout
from handrail.executors.agents.profiles import AgentProfile, SettingsFolder
from handrail.executors.agents.programs import find_program
from handrail.executors.agents.run import AgentCommand, AgentEnd, run_agent
from handrail.executors.drafts.draft import A_MOMENT, Draft
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.processes.pipes import Streams
from handrail.policy.network.hosts import Host
from tests.executors.drafts.conftest import OpenDrafts

SYSTEM = "/usr/bin:/bin"
BASH = AgentProfile("bash")
AGENT = AgentProfile(
    "agent",
    files=(".agentrc",),
    settings=(
        SettingsFolder(".agent", ("sessions/*", "login.json"), ("settings.json", "hooks/*")),
    ),
)
# Asks the proxy for a host, and prints the answer.
CONNECT = (
    "exec 3<>/dev/tcp/127.0.0.1/3128;"
    r" printf 'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n' >&3; cat <&3"
)


class Bench:
    """Runs bash over the draft of a session, and keeps what it has printed."""

    def __init__(self, drafts: ClientDrafts, root: Path, output: Path):
        self.drafts = drafts
        self.root = root
        self.output = output
        self.asked: list[str] = []
        self.stop = asyncio.Event()

    async def ask(self, host: Host) -> str:
        self.asked.append(str(host))
        return "a person has refused it"

    async def bash(
        self,
        script: str,
        profile: AgentProfile = BASH,
        ask: AskAbout | None = None,
        hosts: tuple[str, ...] = (),
    ) -> AgentEnd:
        with self.output.open("wb") as out, open(os.devnull, "rb") as nothing:
            command = AgentCommand(
                find_program("bash", SYSTEM, str(self.root)),
                ("-c", script),
                profile,
                Streams(nothing.fileno(), out.fileno(), out.fileno()),
                profile.environment(os.environ),
                hosts=hosts,
            )
            call = CallRef("session", f"call-{len(self.draft.layers.steps)}")
            return await run_agent(self.draft, call, command, ask or self.ask, self.stop)

    @property
    def draft(self) -> Draft:
        return self.drafts.open("session")

    @property
    def said(self) -> str:
        return self.output.read_text()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
async def bench(open_drafts: OpenDrafts, root: Path, tmp_path: Path) -> Bench:
    return Bench(open_drafts(), root, tmp_path / "output")


async def test_what_a_program_changes_is_one_step_and_nothing_is_real(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("one\n")

    end = await bench.bash("echo two > a.txt; mkdir d; echo b > d/b.txt; echo done")

    assert (end.exit_code, bench.said) == (0, "done\n")
    assert end.step is not None
    assert [change.path for change in end.step.changes] == ["a.txt", "d", "d/b.txt"]
    assert (bench.root / "a.txt").read_text() == "one\n"
    assert not (bench.root / "d").exists()


async def test_a_program_that_changes_nothing_makes_no_step(bench: Bench) -> None:
    end = await bench.bash("echo hello; exit 3")

    assert (end.exit_code, end.step, bench.said) == (3, None, "hello\n")


async def test_a_second_program_sees_what_the_first_has_changed(bench: Bench) -> None:
    await bench.bash("echo one > a.txt")

    await bench.bash("cat a.txt; echo two >> a.txt")

    assert bench.said == "one\n"
    assert [step.number for step in bench.draft.layers.steps] == [1, 2]


async def test_the_home_is_empty_but_for_its_settings(bench: Bench, home: Path) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("secret")
    (home / ".agentrc").write_text("mine")

    await bench.bash("cd; pwd; ls -A; cat .agentrc .ssh/id", profile=AGENT)

    assert bench.said.splitlines()[:3] == [str(home), ".agent", ".agentrc"]
    assert "mine" in bench.said
    assert "secret" not in bench.said


async def test_settings_that_would_run_later_are_not_kept_but_told(
    bench: Bench, home: Path
) -> None:
    (home / ".agent/hooks").mkdir(parents=True)
    (home / ".agent/settings.json").write_text("{}")
    (home / ".agent/login.json").write_text("old")
    # A file that is saved in the moment of the start could be one that is saved during the run.
    await asyncio.sleep(A_MOMENT)

    end = await bench.bash(
        "cd ~/.agent; echo evil > settings.json; echo evil > hooks/pre; echo new > login.json;"
        " mkdir -p sessions/a; echo said > sessions/a/log; echo x > other; rm -f old; echo > ~/x",
        profile=AGENT,
    )

    assert (home / ".agent/settings.json").read_text() == "{}"
    assert [*(home / ".agent/hooks").iterdir()] == []
    assert (home / ".agent/login.json").read_text() == "new\n"
    assert (home / ".agent/sessions/a/log").read_text() == "said\n"
    assert not (home / ".agent/other").exists()
    assert not (home / "x").exists()
    assert end.settings.kept == (".agent/login.json", ".agent/sessions/a/log")
    assert end.settings.runs_later == (".agent/settings.json", ".agent/hooks/pre")


async def test_a_step_tells_of_settings_that_would_run_later(bench: Bench, home: Path) -> None:
    end = await bench.bash("echo a > a.txt; echo evil > ~/.agent/settings.json", profile=AGENT)

    assert end.step is not None
    [note] = end.step.notes
    assert note.endswith("which are not kept: .agent/settings.json")


async def test_kept_settings_are_written_through_no_link(bench: Bench, home: Path) -> None:
    (home / ".agent").mkdir()
    (home / "real").mkdir()
    (home / "real/login").write_text("real")
    (home / ".agent/sessions").symlink_to("../real")
    (home / ".agent/login.json").symlink_to("../real/login")

    end = await bench.bash(
        "cd ~/.agent; rm sessions login.json; mkdir sessions; echo a > sessions/log;"
        " echo b > login.json; ln -s /etc/passwd sessions/link",
        profile=AGENT,
    )

    assert (home / "real/login").read_text() == "real"
    assert [one.name for one in (home / "real").iterdir()] == ["login"]
    assert end.settings.kept == ()


async def test_odd_folders_of_settings_stop_nothing(bench: Bench, home: Path) -> None:
    (home / ".agent/sessions").mkdir(parents=True)
    (home / ".agent/sessions/was-a-file").write_text("real")
    open_before = len(os.listdir("/proc/self/fd"))

    end = await bench.bash(
        "cd ~/.agent/sessions; rm was-a-file; mkdir was-a-file; touch was-a-file/{1..300};"
        " mkdir -m 000 closed; mkfifo fifo; echo said > log; n=$(printf %0250d);"
        " for i in {1..30}; do mkdir $n; cd $n; done; touch f",
        profile=AGENT,
    )

    assert end.exit_code == 0
    assert end.settings.kept == (".agent/sessions/log",)
    assert (home / ".agent/sessions/was-a-file").read_text() == "real"
    assert len(os.listdir("/proc/self/fd")) < open_before + 50


async def test_a_file_of_holes_does_not_fill_the_disk(bench: Bench, home: Path) -> None:
    end = await bench.bash(
        "mkdir ~/.agent/sessions; truncate -s 1G ~/.agent/sessions/log", profile=AGENT
    )

    assert end.settings.kept == ()
    assert not (home / ".agent/sessions/log").exists()


async def test_settings_that_the_person_has_changed_meanwhile_stay(
    bench: Bench, home: Path
) -> None:
    (home / ".agent").mkdir()
    (home / ".agent/login.json").write_text("old")

    async def ask(host: Host) -> str:
        (home / ".agent/login.json").write_text("persons")
        return "no"

    await bench.bash(f"echo agents > ~/.agent/login.json; {CONNECT}", profile=AGENT, ask=ask)

    assert (home / ".agent/login.json").read_text() == "persons"


async def test_an_unlisted_host_waits_for_one_answer(bench: Bench) -> None:
    end = await bench.bash(f"{CONNECT}; {CONNECT}")

    assert bench.asked == ["example.test:443"]
    assert bench.said.count("HTTP/1.1 403 Handrail: a person has refused it") == 2
    [refused] = end.traffic.refused
    assert (refused.host, refused.times) == ("example.test:443", 2)


async def test_quiet_hosts_are_refused_without_a_question(bench: Bench) -> None:
    await bench.bash(CONNECT, profile=AgentProfile("bash", quiet=("example.test",)))

    assert bench.asked == []
    assert "without a question" in bench.said


async def test_a_program_cannot_flood_a_person_with_questions(bench: Bench) -> None:
    async def ask(host: Host) -> str:
        bench.asked.append(str(host))
        await asyncio.sleep(1)
        return "no"

    many = " ".join(
        "(" + CONNECT.replace("example.test", f"example-{number}.test") + ") &"
        for number in range(8)
    )
    await bench.bash(f"{many} wait", ask=ask)

    assert len(bench.asked) == 5
    assert "5 other hosts wait for an answer" in bench.said


async def test_a_local_port_that_the_person_allows_leads_to_this_machine(bench: Bench) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    end = await bench.bash(
        f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3", hosts=(f"localhost:{port}",)
    )
    server.close()

    assert bench.said == "hello\n"
    assert [one.host for one in end.traffic.contacted] == [f"localhost:{port}"]


async def test_connections_to_an_allowed_port_have_a_limit_and_end_with_the_program(
    bench: Bench,
) -> None:
    taken = 0
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        taken += 1
        await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        script = f"""
            import socket, time
            held = [socket.create_connection(("127.0.0.1", {port})) for _ in range(350)]
            time.sleep(2)
        """
        lines = "\n".join(line.strip() for line in script.splitlines())
        await bench.bash(f"python3 -c '{lines}'", hosts=(f"localhost:{port}",))
        async with asyncio.timeout(5):
            await ended.wait()

    assert 0 < taken <= 256


async def test_no_other_local_port_can_be_reached(bench: Bench) -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    await bench.bash(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached; true")
    server.close()

    assert "reached" not in bench.said


async def test_a_second_program_does_not_wait_for_the_first(bench: Bench) -> None:
    async def ask(host: Host) -> str:
        with pytest.raises(CommandExecutionError, match="is at work in this draft"):
            await bench.bash("echo two > b.txt")
        return "no"

    end = await bench.bash(f"echo one > a.txt; {CONNECT}", ask=ask)

    assert end.step is not None
    assert [change.path for change in end.step.changes] == ["a.txt"]


async def test_a_step_is_named_by_the_beginning_of_a_long_command(bench: Bench) -> None:
    end = await bench.bash(f"echo one > a.txt; : {'long ' * 1000}")

    assert end.step is not None
    assert end.step.title.startswith("bash -c echo one > a.txt; : long")
    assert len(end.step.title) < 600


async def test_a_program_that_is_stopped_leaves_a_step(bench: Bench) -> None:
    async def ask(host: Host) -> str:
        bench.stop.set()
        await asyncio.sleep(60)
        return ""

    end = await bench.bash(f"echo a > a.txt; {CONNECT}; echo b > b.txt", ask=ask)

    assert end.step is not None
    assert [change.path for change in end.step.changes] == ["a.txt"]


async def test_a_file_that_the_person_has_changed_meanwhile_is_a_conflict(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("one\n")

    async def ask(host: Host) -> str:
        (bench.root / "a.txt").write_text("persons\n")
        return "no"

    await bench.bash(f"echo agents > a.txt; {CONNECT}", ask=ask)
    summed = await bench.drafts.sum_up(CallRef("session", "apply"), None)

    assert summed.conflicts == ("a.txt was changed in the workspace after the draft changed it",)
    assert (bench.root / "a.txt").read_text() == "persons\n"


async def test_what_cannot_be_applied_is_kept_in_the_draft(bench: Bench) -> None:
    end = await bench.bash("mkfifo pipe; echo a > a.txt")

    assert end.step is not None
    assert not end.step.is_whole
    async with bench.draft.files() as files:
        assert (await files.read("a.txt", max_bytes=10)).data == b"a\n"
    summed = await bench.drafts.sum_up(CallRef("session", "apply"), None)
    assert "'pipe' is a named pipe" in summed.why_not
