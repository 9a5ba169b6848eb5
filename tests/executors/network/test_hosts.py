"""Hosts by the machine's own settings: real programs are asked, outside of the workspace."""

import asyncio
import shutil
from pathlib import Path

import pytest

from handrail.app.home import Home
from handrail.app.policy_files import WorkspacePolicy
from handrail.core.errors import CommandExecutionError
from handrail.executors.network.hosts import Networks, Reachable
from handrail.executors.processes.programs import ProgramFinder
from handrail.policy.network.hosts import Host
from handrail.policy.rulebook.book import Rulebook, operator_rules

ASKED = '[[network]]\nname = "x"\nask = [["asked"]]\ntell = ["X_URL"]'


class Machine:
    """With a program that says where packages come from."""

    def __init__(self, folder: Path):
        self._bin = folder / "bin"
        self._bin.mkdir()
        self.asked = folder / "asked.log"
        self._workspace = folder / "ws"
        self._workspace.mkdir()

    def has(self, name: str, says: str, exit_code: int = 0) -> None:
        program = self._bin / name
        program.write_text(
            f"#!/bin/sh\npwd >> \"{self.asked}\"\ncat <<'end'\n{says}\nend\nexit {exit_code}\n"
        )
        program.chmod(0o755)

    def networks(self, told: str = ASKED) -> Networks:
        rules = Rulebook(operator_rules(told, "policy.toml")).rules_for("")
        path = (str(self._bin), "/usr/bin", "/bin")
        return Networks(rules, ProgramFinder(str(self._workspace), path))

    async def reachable(self, told: str = ASKED) -> Reachable:
        return await self.networks(told).reachable_by(["x"])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("says", "hosts", "tells"),
    [
        ("https://a.example.com/npm/", ["a.example.com:443"], "https://a.example.com/npm/"),
        ("http://a.example.com:4873", ["a.example.com:4873"], "http://a.example.com:4873"),
        ("http://127.0.0.1:4873/", ["127.0.0.1:4873"], "http://127.0.0.1:4873/"),
        ("http://[::1]:80/", ["[::1]:80"], "http://[::1]:80/"),
        (
            "https://a.example.com,direct\nsum.example.org",
            ["a.example.com:443", "sum.example.org:443"],
            "https://a.example.com",
        ),
        (
            "https://a.example.com/x https://b.example.com/y",
            ["a.example.com:443", "b.example.com:443"],
            "https://a.example.com/x",
        ),
    ],
)
async def test_the_address_that_is_printed_names_the_host(
    machine: Machine, says: str, hosts: list[str], tells: str
) -> None:
    machine.has("asked", says)

    found = await machine.reachable()

    assert found == Reachable(tuple(hosts), tuple(hosts), (("X_URL", tells),))


async def test_a_password_in_an_address_stays_outside(machine: Machine) -> None:
    machine.has("asked", "https://ada:secret@a.example.com/npm/")

    found = await machine.reachable()

    assert found.variables == (("X_URL", "https://a.example.com/npm/"),)
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    "says", ["", "undefined", "file:///srv/packages", "https://", "ftp://a.example.com/", "off"]
)
async def test_who_prints_no_address_tells_nothing(machine: Machine, says: str) -> None:
    machine.has("asked", says)

    assert await machine.reachable() == Reachable()


async def test_the_first_who_knows_is_believed(machine: Machine) -> None:
    machine.has("first", "no such key", exit_code=1)
    machine.has("second", "https://b.example.com/")
    machine.has("third", "https://c.example.com/")
    told = '[[network]]\nname = "x"\nask = [["missing"], ["first"], ["second"], ["third"]]'

    assert (await machine.reachable(told)).hosts == ("b.example.com:443",)


async def test_nobody_is_asked_in_the_workspace_and_nobody_twice(machine: Machine) -> None:
    machine.has("asked", "https://a.example.com/")
    networks = machine.networks()

    found = await asyncio.gather(*[networks.reachable_by(["x"]) for _ in range(3)])

    assert len(set(found)) == 1
    assert machine.asked.read_text() == "/\n"


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_who_is_asked_leaves_nothing_behind(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".npmrc").write_text("registry=https://npm.example.com/\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("npm_config_registry", raising=False)
    told = '[[network]]\nname = "x"\nask = [["npm", "config", "get", "registry"]]'

    found = await machine.reachable(told)

    assert found.hosts == ("npm.example.com:443",)
    assert [path.name for path in home.iterdir()] == [".npmrc"]


async def test_what_was_learnt_ahead_is_not_asked_again(machine: Machine) -> None:
    machine.has("asked", "https://a.example.com/")
    networks = machine.networks()
    await asyncio.to_thread(networks.learn)
    assert len(machine.asked.read_text().splitlines()) == 1
    assert (await networks.reachable_by(["x"])).hosts == ("a.example.com:443",)
    assert len(machine.asked.read_text().splitlines()) == 1


async def test_a_listed_host_may_be_private_only_with_its_port(machine: Machine) -> None:
    hosts = '["a.example.com", "registry.internal:4873", "*.example.org:8080"]'

    found = await machine.reachable(f'[[network]]\nname = "x"\nhosts = {hosts}')

    assert found.hosts == ("a.example.com", "registry.internal:4873", "*.example.org:8080")
    assert found.local == ("registry.internal:4873",)


async def test_a_host_that_is_taken_off_the_list_is_withdrawn_from_a_running_command(
    machine: Machine, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    home.create()
    file = home.path / "policy.toml"
    told = '[[network]]\nname = "x"\nhosts = ["a.example.com", "b.example.com"]'
    file.write_text(told)
    policy = WorkspacePolicy(home, tmp_path)
    networks = machine.networks(told)
    networks.refresh = lambda: networks.adopt(policy.rules)
    networks.refresh()
    withdrawn = networks.withdrawals(["x"], await networks.reachable_by(["x"]))
    a, b = Host("a.example.com", 443), Host("b.example.com", 443)

    assert (await withdrawn(a), await withdrawn(b)) == ("", "")
    file.write_text(told.replace('"a.example.com", ', ""))
    assert "a.example.com:443 was taken off the operator's list" in await withdrawn(a)
    assert await withdrawn(b) == ""
    file.write_text("[[network")
    for host in (a, b):
        assert "no host is reached: the list of hosts is unreadable" in await withdrawn(host)
    with pytest.raises(CommandExecutionError, match="the list of hosts is unreadable"):
        await networks.reachable_by(["x"])
    file.write_text(told)
    assert (await withdrawn(a), await withdrawn(b)) == ("", "")


async def test_other_rules_hold_from_then_on(machine: Machine) -> None:
    networks = machine.networks()
    told = '[[network]]\nname = "x"\nhosts = ["a.example.com"]'

    networks.adopt(Rulebook(operator_rules(told, "policy.toml")).rules_for(""))

    assert (await networks.reachable_by(["x"])).hosts == ("a.example.com",)
