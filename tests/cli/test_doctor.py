"""`handrail doctor`: for people and for programs."""

import json

import pytest

from handrail.app.doctor.finding import Finding, Health
from handrail.cli.doctor import in_short
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
    assert "Handrail cannot prevent that" in by_subject["limits"]["words"]
    assert (told.returncode, broken.returncode) == (1, 1)
    assert f"✗  broken  home        {shell.home} is accessible to other users (0755)" in told.stdout
    assert f"→ close it: chmod -R go= {shell.home}" in told.stdout
    assert "✓  fine    python" in told.stdout
    assert not json.loads(broken.stdout)["well"]


def test_what_protects_less_than_it_could_is_not_summed_up_as_nothing() -> None:
    well = [Finding("python", Health.FINE, "is there"), Finding("limits", Health.NOTE, "are told")]

    assert "Nothing is broken." in in_short(well, 0)
    assert in_short([*well, Finding("box", Health.WARN, "is not there")], 0) == (
        "\n[yellow]You could be better protected: see box above.[/]"
    )
    assert in_short([*well, Finding("tools", Health.WARN, "one is left out")], 0) == (
        "\n[yellow]See the notes above.[/]"
    )
