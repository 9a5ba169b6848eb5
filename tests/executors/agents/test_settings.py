"""The home of an agent, and what of its settings is kept."""

import asyncio
import os
from pathlib import Path

from handrail.executors.drafts.draft import A_MOMENT
from handrail.policy.network.hosts import Host
from tests.executors.agents.bench import AGENT, CONNECT, Bench


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


async def test_a_step_tells_what_is_not_kept_of_the_home(bench: Bench, home: Path) -> None:
    (home / ".agentrc").write_text("mine")
    shell = "cd; echo evil > .bashrc; mkdir -p .cache/a/b .empty; echo x > .cache/a/b/c; : > none"

    unchanged = await bench.bash("echo a > a.txt", profile=AGENT)
    end = await bench.bash(f"echo b > a.txt; {shell}; echo x >> .agentrc", profile=AGENT)

    assert unchanged.step is not None
    assert unchanged.step.notes == ()
    assert end.step is not None
    assert end.step.notes == (
        "what it wrote in its home is not kept: ~/.agentrc, ~/.bashrc, ~/.cache/",
    )
    assert (home / ".agentrc").read_text() == "mine"


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
