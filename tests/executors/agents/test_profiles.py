"""What is known of well-known agents."""

import pytest

from handrail.executors.agents.profiles import profile_for


@pytest.mark.parametrize(
    ("program", "path"),
    [
        ("claude", "projects/-home-ann-shop/5c1f.jsonl"),
        ("claude", ".credentials.json"),
        ("codex", "sessions/2026/01/02/rollout-1.jsonl"),
        ("codex", "auth.json"),
        ("gemini", "tmp/4f2a/chats/session-1.json"),
        ("gemini", "oauth_creds.json"),
    ],
)
def test_sessions_and_logins_are_kept(program: str, path: str) -> None:
    [settings] = profile_for(program).settings

    assert settings.is_kept(path)


@pytest.mark.parametrize(
    ("program", "path"),
    [
        # Sourced by every shell of the session, when it is taken up again.
        ("claude", "session-env/5c1f/sessionstart-hook-1.sh"),
        # Read into each session of the project.
        ("claude", "projects/-home-ann-shop/memory/MEMORY.md"),
        ("claude", "projects/-home-ann-shop/CLAUDE.md"),
        ("codex", "config.toml"),
        # A git repository: its config names programs that git runs.
        ("gemini", "history/4f2a/.git/config"),
        ("gemini", "history/4f2a/.gitconfig"),
        ("gemini", "tmp/bin/rg"),
    ],
)
def test_what_would_run_later_is_told_and_not_kept(program: str, path: str) -> None:
    [settings] = profile_for(program).settings

    assert settings.runs_later(path)
    assert not settings.is_kept(path)
