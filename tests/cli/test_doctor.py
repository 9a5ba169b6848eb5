"""`handrail doctor`: for people and for programs."""

import json

import pytest

from tests.cli.conftest import Shell, ended_well


@pytest.mark.behaviour("doctor.plain")
def test_what_is_broken_is_said_with_what_to_do_and_what_is_well_too(shell: Shell) -> None:
    shell.start_up()
    well = json.loads(ended_well(shell.run("doctor", "--json")))
    shell.home.chmod(0o755)
    told = shell.run("doctor")
    broken = shell.run("doctor", "--json")

    assert well["well"]
    by_subject = {finding["subject"]: finding for finding in well["findings"]}
    assert by_subject["server"]["health"] == by_subject["record"]["health"] == "fine"
    assert "only advice" in by_subject["limits"]["words"]
    assert (told.returncode, broken.returncode) == (1, 1)
    assert f"✗  broken  home        {shell.home} is open to others (0755)" in told.stdout
    assert f"→ close it: chmod -R go= {shell.home}" in told.stdout
    assert "✓  fine    python" in told.stdout
    assert not json.loads(broken.stdout)["well"]
