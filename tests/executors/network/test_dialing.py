import json
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

import handrail
from handrail.executors.network.dialing import look_up
from tests.executors.network import public_world

# A box with a network of its own, in which its program may do everything; python as it is here.
WORLD = ["bwrap", "--unshare-all", "--cap-add", "ALL", "--ro-bind", "/", "/", "--proc", "/proc"]


def can_make_worlds() -> bool:
    try:
        done = subprocess.run([*WORLD, "--", "/bin/true"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


@pytest.mark.skipif(
    not can_make_worlds(), reason="there is no bubblewrap here that can make a network"
)
def test_a_name_that_changes_its_mind_leads_nowhere_but_to_what_was_checked() -> None:
    source = str(Path(handrail.__file__).parent.parent)
    done = subprocess.run(
        [*WORLD, "--setenv", "PYTHONPATH", source, "--", sys.executable, public_world.__file__],
        capture_output=True,
        timeout=40,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    refused = (
        "Handrail: rebinding.test:80 resolves to 127.0.0.1, on this machine or in a private "
        "network; only a host that is listed as local, with its port, may do that"
    )
    assert json.loads(done.stdout) == {
        "met": [
            "this is 93.184.216.34",
            refused,
            refused,
            "this is 93.184.216.34",
            "this is 93.184.216.34",
        ],
        # Once for each request that named it, and not at all for an address.
        "looked up": ["rebinding.test"] * 4,
    }


async def test_this_machine_knows_its_own_name() -> None:
    addresses = await look_up("localhost", 80)
    assert addresses
    assert all(ip_address(address).is_loopback for address in addresses)
    assert len(set(addresses)) == len(addresses)
