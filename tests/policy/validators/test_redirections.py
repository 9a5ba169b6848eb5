"""A file behind `<` or `>` is one that the line names, as any other word of it."""

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.scripts import ScriptValidator

LINES = ScriptValidator("/home/ada/project")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("cat < .env", "'.env' is refused: environment files hold secrets"),
        ("echo x >.en'v'", "'.env' is refused: environment files hold secrets"),
        ("echo $(cat < .env)", "'.env' is refused: environment files hold secrets"),
        ("cd src && echo a > ../.env", "'.env' is refused: environment files hold secrets"),
        ("ls 2>> ../x", "'../x' climbs out of the workspace"),
        ("echo x > ~/.bashrc", "'~/.bashrc' names a home folder, which lies outside"),
        ("echo x >| /etc/hosts", "'/etc/hosts' lies outside the workspace"),
        ("echo x > /tmp/a/../../etc/x", "'/tmp/a/../../etc/x' lies outside the workspace"),
        ("exec 3<>/dev/tcp/192.0.2.1/80", "'/dev/tcp/192.0.2.1/80' lies outside the workspace"),
    ],
)
def test_what_no_tool_may_touch_is_refused(line: str, reason: str) -> None:
    *_, refusal = LINES.validate_script(line)

    assert (refusal.reason, refusal.risk) == (reason, RiskLevel.FORBIDDEN)


def test_what_is_written_is_judged_as_such() -> None:
    *_, refusal = LINES.validate_script("echo x > .git/hooks/pre-commit")

    assert refusal.risk is RiskLevel.FORBIDDEN
    assert refusal.reason.startswith("'.git/hooks/pre-commit' is refused: ")


@pytest.mark.parametrize(
    "line",
    [
        "sort < a > b",
        "make >/dev/null 2>&1; echo $?",
        "python3 x.py > /tmp/out.txt 2>&1",
        "cd src && echo a > ../b.txt",
        'for f in *.py; do wc -l < "$f"; done',
        'echo x > "$HOME/.bashrc"',
        "x=.env; cat < $x",
        'cat <<< "x > .env"',
        "[[ a > .env ]]",
        "exec 3>&-",
    ],
)
def test_what_is_allowed_or_cannot_be_told_is_asked_about(line: str) -> None:
    assert worst(LINES.validate_script(line)) is RiskLevel.HIGH


def test_a_line_that_begins_in_a_folder_is_judged_from_there() -> None:
    inside = ScriptValidator("/home/ada/project", folder="src")

    assert worst(inside.validate_script("ls > ../b.txt")) is RiskLevel.HIGH
    assert worst(inside.validate_script("ls > ../../b.txt")) is RiskLevel.FORBIDDEN
