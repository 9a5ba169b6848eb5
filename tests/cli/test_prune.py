"""handrail prune, beside a running server and after it."""

import json

from tests.cli.conftest import Shell, ended_well, refused


def test_old_records_are_pruned_while_the_server_runs_and_the_file_rewritten_afterwards(
    shell: Shell,
) -> None:
    process, _ = shell.start_up()
    dry = ended_well(shell.run("prune", "--dry-run"))
    pruned = json.loads(ended_well(shell.run("prune", "--older-than", "2w", "--json")))
    running = refused(shell.run("prune", "--vacuum"))
    process.terminate()
    process.communicate()
    rewritten = ended_well(shell.run("prune", "--vacuum"))

    assert dry.startswith("Would remove 0 calls, 0 results and 0 questions: 0 bytes.")
    names = ("dry_run", "calls", "results", "questions", "bytes", "over_limit_bytes")
    assert [pruned[name] for name in names] == [False, 0, 0, 0, 0, 0]
    assert "is running" in running
    assert "Rewrote the database file:" in rewritten


def test_an_age_that_cannot_be_read_is_refused(shell: Shell) -> None:
    for words in ("30", "d", "1y", "0d", "-1d"):
        answer = shell.run("prune", f"--older-than={words}")
        assert answer.returncode == 2
        assert "--older-than" in answer.stderr
