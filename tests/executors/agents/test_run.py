"""Running a foreign program over a draft."""

import asyncio

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.core.rehearsal import CallRef
from handrail.executors.agents.profiles import AgentProfile
from handrail.policy.network.hosts import Host
from tests.executors.agents.bench import CONNECT, Bench


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
    now, most = 0, 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await reader.read()
        writer.close()
        now -= 1

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
            while now:
                await asyncio.sleep(0.05)

    # A connection that has just ended may still be counted here.
    assert 200 < most < 300


async def test_no_other_local_port_can_be_reached(bench: Bench) -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    await bench.bash(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached; true")
    server.close()

    assert "reached" not in bench.said


async def test_a_second_program_does_not_wait_for_the_first(bench: Bench) -> None:
    async def ask(host: Host) -> str:
        with pytest.raises(CommandExecutionError, match="is running in this draft"):
            await bench.bash("echo two > b.txt")
        return "no"

    end = await bench.bash(f"echo one > a.txt; {CONNECT}", ask=ask)

    assert end.step is not None
    assert [change.path for change in end.step.changes] == ["a.txt"]


async def test_a_call_is_refused_at_once_while_a_program_runs_in_its_draft(bench: Bench) -> None:
    call = CallRef("session", "other")

    async def ask(host: Host) -> str:
        work = bench.drafts.work_on(call, "write_file b.txt")
        for attempt in (
            bench.drafts.sum_up(call, None),
            bench.drafts.discard("session", 1),
            work.files.write("b.txt", b"b", expected=None),
        ):
            with pytest.raises(CommandExecutionError, match=r"bash -c .* is running in this draft"):
                await attempt
        return "no"

    await bench.bash(f"echo one > a.txt; {CONNECT}", ask=ask)

    assert len((await bench.drafts.sum_up(call, None)).steps) == 1


async def test_what_a_program_has_changed_is_kept_when_its_run_breaks(bench: Bench) -> None:
    async def ask(host: Host) -> str:
        raise RuntimeError("a bug")

    end = await bench.bash(f"echo one > a.txt; {CONNECT}; sleep 60", ask=ask)

    assert end.exit_code != 0
    assert end.step is not None
    assert "something went wrong in Handrail while it ran" in end.step.notes[0]
    assert [change.path for change in end.step.changes] == ["a.txt"]


async def test_what_a_program_has_changed_is_kept_when_its_run_is_cancelled(bench: Bench) -> None:
    task: asyncio.Task[object] | None = None

    async def ask(host: Host) -> str:
        assert task is not None
        task.cancel()
        return "no"

    task = asyncio.create_task(bench.bash(f"echo one > a.txt; {CONNECT}; sleep 60", ask=ask))
    with pytest.raises(asyncio.CancelledError):
        await task

    [step] = bench.draft.layers.steps
    assert [change.path for change in step.changes] == ["a.txt"]


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
