"""The profile `net`: what was approved can be reached, by a proxy, and nothing else can."""

import json
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import StaleCommandError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Join, Stage
from handrail.core.traffic import NO_TRAFFIC
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from tests.executors.conftest import PYTHON
from tests.executors.network.package_registry import NAME, VERSION, Registry, serving_packages

FETCH = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.reason)
except OSError as error:
    print(error)
"""


@pytest.fixture
def registry() -> Generator[Registry]:
    with serving_packages() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of the person at the machine, whose npm takes its packages from that registry."""
    made = tmp_path / "home"
    made.mkdir()
    (made / ".npmrc").write_text(f"registry={registry.address}\n")
    monkeypatch.setenv("HOME", str(made))
    return made


def adopt(executor: CommandExecutor, text: str) -> None:
    executor.adopt(Rulebook(operator_rules(text, "policy.toml")).rules_for(""))


def fetching(address: str, *hosts: str, profile: Profile = Profile.NET) -> list[Stage]:
    argv = (PYTHON.name, "-I", "-c", FETCH, address)
    return [Stage(argv, profile, networks=("fetch",), hosts=hosts)]


async def run(executor: CommandExecutor, stages: list[Stage], seconds: float = 60) -> str:
    outcome = await executor.run(stages, timeout_seconds=seconds)
    assert outcome.exit_code == 0, outcome.stderr.decode()
    return outcome.stdout.decode().strip()


async def test_what_was_approved_is_reached_and_told_of(
    executor: CommandExecutor, registry: Registry
) -> None:
    adopt(executor, f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]')
    stages = fetching(registry.address + NAME)

    sight = await executor.look(stages)
    outcome = await executor.run(stages, timeout_seconds=60, expected=sight.facts)

    assert sight.hosts == (registry.place,)
    assert json.loads(outcome.stdout)["name"] == NAME
    [contact] = outcome.traffic.contacted
    assert (contact.host, contact.connections) == (registry.place, 1)
    assert contact.received_bytes > len(outcome.stdout)
    assert outcome.traffic.refused == ()


async def test_other_hosts_than_those_that_were_approved_are_stale(
    executor: CommandExecutor, registry: Registry
) -> None:
    adopt(executor, '[[network]]\nname = "fetch"\nhosts = ["a.example.com"]')
    stages = fetching(registry.address + NAME)
    approved = (await executor.look(stages)).facts
    adopt(executor, f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]')

    with pytest.raises(StaleCommandError, match="the hosts that may be reached"):
        await executor.run(stages, timeout_seconds=60, expected=approved)

    assert registry.asked == []


async def test_a_host_that_is_taken_off_the_list_is_refused_from_the_next_connection_on(
    executor: CommandExecutor, registry: Registry
) -> None:
    def refresh() -> None:
        if registry.asked:
            adopt(executor, '[[network]]\nname = "fetch"\nhosts = ["a.example.com"]')

    adopt(executor, f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]')
    executor.refresh_with(refresh)
    [stage] = fetching(registry.address + NAME)
    twice = stage._replace(argv=(*stage.argv[:3], FETCH + FETCH, stage.argv[-1]))
    sight = await executor.look([twice])

    outcome = await executor.run([twice], timeout_seconds=60, expected=sight.facts)

    why = f"{registry.place} was taken off the operator's list while the command ran"
    first, second = outcome.stdout.decode().splitlines()
    assert (json.loads(first)["name"], second) == (NAME, f"403 Handrail: {why}")
    assert [refused.reason for refused in outcome.traffic.refused] == [why]
    assert len(registry.asked) == 1


async def test_without_a_host_nothing_is_reached(
    executor: CommandExecutor, registry: Registry
) -> None:
    outcome = await executor.run(fetching(registry.address), timeout_seconds=60)

    why = f"{registry.place} is not among the hosts that were approved (none)"
    assert outcome.stdout.decode().strip() == f"403 Handrail: {why}"
    assert [refused.reason for refused in outcome.traffic.refused] == [why]
    assert registry.asked == []


async def test_a_host_that_is_asked_for_beside_the_words_is_part_of_what_is_approved(
    executor: CommandExecutor, registry: Registry
) -> None:
    stages = [stage._replace(networks=()) for stage in fetching(registry.address, "a.example.com")]
    approved = await executor.look(stages)
    others = [stage._replace(hosts=("b.example.com",)) for stage in stages]

    outcome = await executor.run(stages, timeout_seconds=60, expected=approved.facts)

    assert approved.hosts == ("a.example.com",)
    why = f"{registry.place} is not among the hosts that were approved (a.example.com)"
    assert [refused.reason for refused in outcome.traffic.refused] == [why]
    with pytest.raises(StaleCommandError, match="the hosts that may be reached"):
        await executor.run(others, timeout_seconds=60, expected=approved.facts)


async def test_a_private_address_is_reached_only_where_this_machine_names_it(
    executor: CommandExecutor, registry: Registry
) -> None:
    """An approval alone is not enough: the name may have come from the workspace."""
    said = await run(executor, fetching(registry.address, registry.place))

    assert "in a private network" in said
    assert registry.asked == []


async def test_around_the_proxy_there_is_nothing(
    executor: CommandExecutor, registry: Registry
) -> None:
    adopt(executor, f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]')
    port = registry.place.rpartition(":")[2]
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 20)"
    stage = fetching("")[0]._replace(argv=(PYTHON.name, "-I", "-c", code), hosts=(registry.place,))

    outcome = await executor.run([stage], timeout_seconds=60)

    assert b"Connection refused" in outcome.stderr
    assert registry.asked == []


@pytest.mark.parametrize("profile", [Profile.READ, Profile.WRITE])
async def test_other_profiles_have_no_way_out(
    executor: CommandExecutor, registry: Registry, profile: Profile
) -> None:
    adopt(executor, f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]')

    stages = fetching(registry.address, registry.place, profile=profile)
    outcome = await executor.run(stages, timeout_seconds=60)

    assert registry.asked == []
    assert outcome.traffic == NO_TRAFFIC


async def test_each_stage_has_a_way_out_of_its_own(
    executor: CommandExecutor, registry: Registry
) -> None:
    adopt(executor, f'[[network]]\nname = "fetch"\nhosts = ["{registry.place}"]')
    [first] = fetching(registry.address + NAME, registry.place)
    [second] = fetching(registry.address + NAME)

    outcome = await executor.run([first, second._replace(join=Join.THEN)], timeout_seconds=60)

    assert len(outcome.traffic.contacted) == len(outcome.traffic.refused) == 1


async def test_one_that_takes_too_long_is_ended_with_its_way_out(
    executor: CommandExecutor, registry: Registry
) -> None:
    stage = fetching("")[0]._replace(argv=("sleep", "60"))

    outcome = await executor.run([stage], timeout_seconds=1)

    assert outcome.ending is Ending.TIMED_OUT


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed here")
class TestNpm:
    @pytest.fixture(autouse=True)
    def project(self, root: Path, home: Path) -> None:
        (root / "package.json").write_text('{"name": "ours", "version": "1.0.0"}')

    async def install(self, executor: CommandExecutor, *hosts: str) -> CommandOutcome:
        argv = ("npm", "install", NAME, "--ignore-scripts", "--fetch-retries=0")
        stage = Stage(argv, Profile.NET, networks=("npm",), hosts=hosts)
        return await executor.run([stage], timeout_seconds=120)

    async def test_its_registry_is_found_in_the_settings_of_the_machine(
        self, executor: CommandExecutor, registry: Registry, root: Path
    ) -> None:
        (root / ".npmrc").write_text("registry=http://evil.test/\n")

        stage = Stage(("npm", "install"), Profile.NET, networks=("npm",))

        assert (await executor.look([stage])).hosts == (registry.place,)

    async def test_it_really_installs_from_there(
        self, executor: CommandExecutor, registry: Registry, root: Path
    ) -> None:
        outcome = await self.install(executor, registry.place)

        assert outcome.exit_code == 0, outcome.stderr.decode()
        installed = json.loads((root / "node_modules" / NAME / "package.json").read_text())
        assert installed["version"] == VERSION
        assert {contact.host for contact in outcome.traffic.contacted} == {registry.place}

    async def test_it_installs_nothing_where_no_host_was_approved(
        self, executor: CommandExecutor, registry: Registry, root: Path
    ) -> None:
        outcome = await self.install(executor)

        assert outcome.exit_code != 0
        assert registry.asked == []
        assert not (root / "node_modules" / NAME).exists()
