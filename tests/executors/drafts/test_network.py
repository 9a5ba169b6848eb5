"""An approved command with a network works on the draft, and what it changes is a step."""

from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from tests.executors.drafts.session import DraftSession, contents, paths_of
from tests.executors.network.package_registry import NAME, Registry, serving_packages

FETCH = """
import sys, urllib.request
found = urllib.request.urlopen(sys.argv[1], timeout=20).read()
open("fetched.json", "wb").write(found + open("a.txt", "rb").read())
"""


@pytest.fixture
def registry() -> Generator[Registry]:
    with serving_packages() as made:
        yield made


async def test_it_reaches_its_host_sees_the_draft_and_changes_only_that(
    session: DraftSession, executor_of_drafts: CommandExecutor, registry: Registry, root: Path
) -> None:
    rules = operator_rules(f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]', "policy")
    executor_of_drafts.adopt(Rulebook(rules).rules_for(""))
    argv = ("python3", "-I", "-c", FETCH, registry.address + NAME)
    stages = [Stage(argv, Profile.NET, networks=("fetch",))]
    await session.write("a.txt", "mine\n")
    call = session.call()
    work = session.work(call)

    sight = await work.commands.look(stages)
    done = await work.rehearsals.carry_out(call, stages, timeout_seconds=60, expected=sight.facts)
    await work.rehearsals.apply(call)

    assert done.outcome.exit_code == 0, done.outcome.stderr.decode()
    [contact] = done.outcome.traffic.contacted
    assert contact.host == registry.place
    assert (await session.read("fetched.json")).endswith("mine\n")
    assert contents(root) == {}
    assert paths_of(await session.apply()) == ["a.txt", "fetched.json"]


async def test_without_an_approval_it_reaches_nothing(
    session: DraftSession, registry: Registry
) -> None:
    line = f"python3 -c 'import urllib.request as r; r.urlopen(\"{registry.address}\")'"

    assert "Error" in await session.output(line)
    assert registry.asked == []
