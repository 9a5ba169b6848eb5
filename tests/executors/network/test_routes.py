"""This machine and its neighbours are local at every address they have, as the kernel tells it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.core.web import WebRequest
from handrail.executors.network import routes
from handrail.executors.network.dialing import dial
from handrail.executors.network.interfaces import interface_networks
from handrail.executors.network.request import Refusal
from handrail.executors.network.routes import reach_from_here
from handrail.executors.web.guarded import GuardedWeb
from handrail.executors.web.pinned import RequestRefused
from handrail.policy.network.addresses import Reach
from handrail.policy.network.hosts import Host
from handrail.policy.network.web_hosts import WebHosts
from tests.executors.network import own_world
from tests.executors.network.proxying import resolving
from tests.executors.network.test_dialing import WORLD, can_make_worlds

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    not can_make_worlds(), reason="there is no bubblewrap here that can make a network"
)


def run_world(*words: str) -> dict[str, Any]:
    path = f"{Path(handrail.__file__).parent.parent}:{ROOT}"
    tunnel = ["--dev-bind-try", "/dev/net/tun", "/dev/net/tun"]
    program = [sys.executable, own_world.__file__, *words]
    done = subprocess.run(
        [*WORLD, *tunnel, "--setenv", "PYTHONPATH", path, "--", *program],
        capture_output=True,
        timeout=60,
        check=False,
    )
    if done.returncode and b"/dev/net/tun" in done.stderr:
        pytest.skip("this user may make no tunnel")
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def machine() -> dict[str, Any]:
    return run_world()


def test_only_what_lies_behind_a_router_is_public(machine: dict[str, Any]) -> None:
    local = (*own_world.OWN, *own_world.NEIGHBOURS, own_world.LATER, *own_world.WRAPPED)

    assert machine["reach"] == {
        **dict.fromkeys(local, "LOCAL"),
        **dict.fromkeys(own_world.FAR, "PUBLIC"),
    }


@pytest.mark.parametrize("way", ["web", "proxy"])
def test_neither_requests_nor_commands_reach_this_machine_by_its_public_addresses(
    machine: dict[str, Any], way: str
) -> None:
    answers = machine[way]

    assert len(answers) == 9
    assert [
        said for said in answers.values() if "on this machine or in a private" not in said
    ] == []


def test_an_address_counts_from_the_moment_it_is_there(machine: dict[str, Any]) -> None:
    assert (machine["before"], machine["reach"][own_world.LATER]) == ("PUBLIC", "LOCAL")


def test_an_address_of_this_machine_is_reached_if_the_operator_trusts_it(
    machine: dict[str, Any],
) -> None:
    assert machine["trusted"] == "secret page\n"


def test_the_c_library_lists_the_same_networks(machine: dict[str, Any]) -> None:
    mine = (*own_world.OWN, *own_world.NEIGHBOURS, own_world.LATER)

    assert machine["listed by the C library"] == {
        **dict.fromkeys(mine, True),
        **dict.fromkeys(own_world.FAR, False),
    }


def test_a_tunnel_to_the_whole_internet_makes_it_no_local_network() -> None:
    found = run_world("tunnel")

    assert found.pop("its own network") == "LOCAL"
    assert found == dict.fromkeys(found, "PUBLIC")
    assert len(found) == 8


def test_this_machine_is_found_by_both_ways() -> None:
    assert reach_from_here("127.0.0.1") is Reach.LOCAL
    assert any(str(network) == "127.0.0.0/8" for network in interface_networks())


async def test_nothing_is_sent_where_the_kernel_cannot_be_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes.socket, "NETLINK_ROUTE", 30)  # There is no such kind.
    public = "93.184.216.34"
    why = "may be an address of this machine: its kernel could not be asked"

    refused = await dial(
        Host(public, 80), may_be_local=False, resolve=resolving(public), seconds=1.0
    )

    assert isinstance(refused, Refusal)
    assert why in refused.reason
    request = WebRequest(f"http://{public}/", "GET", (), None, timeout_seconds=1)
    with pytest.raises(RequestRefused, match=why):
        await GuardedWeb(WebHosts).request(request, max_bytes=1)
