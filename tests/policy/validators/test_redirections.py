"""A protected file behind `<` or `>` is refused, and a path outside is left to the box."""

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
        ("echo x > sub/.env", "'sub/.env' is refused: environment files hold secrets"),
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
        # The box holds what lies outside.
        "ls 2>> ../x",
        "echo x > ~/.bashrc",
        "echo x >| /etc/hosts",
        "echo x > /tmp/a/../../etc/x",
        "exec 3<>/dev/tcp/192.0.2.1/80",
    ],
)
def test_what_is_allowed_or_cannot_be_told_is_asked_about(line: str) -> None:
    assert worst(LINES.validate_script(line)) is RiskLevel.HIGH


def test_a_line_that_begins_in_a_folder_is_judged_from_there() -> None:
    inside = ScriptValidator("/home/ada/project", folder="src")

    assert worst(inside.validate_script("ls > ../b.txt")) is RiskLevel.HIGH
    assert worst(inside.validate_script("ls > ../.env")) is RiskLevel.FORBIDDEN
