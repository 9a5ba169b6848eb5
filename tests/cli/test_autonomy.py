"""`handrail autonomy`: what agents of a project may do without asking."""

import json
import time

from handrail.core.project import Autonomy
from tests.cli.conftest import Shell, ended_well, refused


def test_the_owner_sees_and_sets_what_agents_may_do(shell: Shell) -> None:
    assert "is not set up for Handrail yet" in refused(shell.run("autonomy"))
    shell.start_up()

    before = ended_well(shell.run("autonomy"))
    changed = ended_well(shell.run("autonomy", "read_only"))
    after = json.loads(ended_well(shell.run("autonomy", "--json")))
    wrong = shell.run("autonomy", "boundless")

    assert before.startswith(f"supervised: {Autonomy.SUPERVISED.meaning}")
    assert all(one.meaning in before for one in Autonomy)
    assert changed == f"read_only: {Autonomy.READ_ONLY.meaning}\n"
    assert (after["autonomy"], after["meaning"]) == ("read_only", Autonomy.READ_ONLY.meaning)
    assert wrong.returncode != 0
    assert "read_only" in wrong.stderr


def test_where_a_policy_file_lowers_it_that_is_said(shell: Shell) -> None:
    policy = shell.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir()
    policy.write_text('[policy]\nautonomy = "read_only"\n')
    shell.start_up()

    lowered = f"{shell.workspace}: read_only, because of a policy file\n"
    said = ended_well(shell.run("autonomy", "full"))
    # The client tells the server of the file when it has connected.
    deadline = time.monotonic() + 20
    while not said.endswith(lowered) and time.monotonic() < deadline:
        said = ended_well(shell.run("autonomy", "full"))

    assert said == f"full: {Autonomy.FULL.meaning}\n{lowered}"
