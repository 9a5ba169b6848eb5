"""What packs and unpacks has flags that delete files, or that take names from elsewhere."""

import shlex

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/workspace")


def risk_of(line: str) -> RiskLevel:
    command, *args = shlex.split(line)
    return worst(COMMANDS.validate_command(command, args))


@pytest.mark.parametrize(
    "words",
    [
        *("-xGf a.tar", "xGf a.tar", "-xzGf a.tgz", "-x -G -f a.tar", "-xf a.tar -g s.snar"),
        *("-x --incremental -f a.tar", "-xf a.tar --incr", "-xf a.tar --listed-inc=/dev/null"),
        *("-xf a.tar --listed-incremental s.snar", "-cf a.tar d --remove-f", "-xf a.tar --unl"),
        *("-xf a.tar --recursive-u", "-xUf a.tar"),
    ],
)
def test_tar_deletes_nothing_while_it_packs_or_unpacks(words: str) -> None:
    assert risk_of(f"tar {words}") is RiskLevel.FORBIDDEN


@pytest.mark.parametrize("words", ["-cf a.tar -T l", "-cTf l a.tar", "-cf a.tar --files-f=l"])
def test_that_tar_takes_names_from_a_list_is_told(words: str) -> None:
    _, *args = shlex.split(f"tar {words}")
    reasons = [finding.reason for finding in COMMANDS.validate_command("tar", args)]
    assert any("from a file that is not shown" in reason for reason in reasons)


@pytest.mark.parametrize(
    "words", ["-tf Gg.tar", "xzf data.tgz", "-xf data.tar -C data", "-czf dist.tar.gz dist"]
)
def test_tar_is_asked_about_otherwise(words: str) -> None:
    assert risk_of(f"tar {words}") is RiskLevel.HIGH
