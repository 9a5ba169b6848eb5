"""`handrail budget`: what was used today, and what may be."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

from tests.cli.conftest import Shell, ended_well, refused


def use(shell: Shell, tokens: int) -> None:
    """Have it counted that the person's agents have used so much today."""
    day = datetime.now(UTC).date().isoformat()
    with closing(sqlite3.connect(shell.home / "handrail.db")) as database, database:
        (user,) = database.execute("SELECT id FROM users").fetchone()
        database.execute(
            "INSERT OR REPLACE INTO token_usage (user_id, day, input_tokens, output_tokens, "
            "cached_tokens) VALUES (?, ?, ?, 10, 5)",
            (user, day, tokens - 10),
        )


def test_a_person_sees_what_is_used_near_the_limit_and_beyond_it(shell: Shell) -> None:
    assert "is not set up for Handrail yet" in refused(shell.run("budget"))
    shell.start_up()

    assert "0 tokens and there is no limit" in ended_well(shell.run("budget"))
    ended_well(shell.run("config", "set", "budget.daily_tokens", "1000"))
    use(shell, 850)
    near = ended_well(shell.run("budget"))
    use(shell, 1_200)
    beyond = ended_well(shell.run("budget"))
    told = json.loads(ended_well(shell.run("budget", "--json")))

    assert "850 tokens of 1,000 (85%)" in near
    assert "840 in, 5 of them cached, 10 out" in near
    assert "More than 80 % of the limit is used." in near
    assert "The limit is reached: no model is asked until tomorrow (UTC)." in beyond
    assert (told["used_tokens"], told["exhausted"]) == (1_200, True)
