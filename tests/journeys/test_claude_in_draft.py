"""The real Claude Code in a draft, against a scripted model."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.agent.providers.script import Script, ScriptedUse, Step
from handrail.core.card import Choice
from tests.executors.rehearsal.repositories import run
from tests.forge import Forged
from tests.journeys.conftest import Rig
from tests.model_server.server import serving

pytestmark = [
    pytest.mark.usefixtures("needs_box"),
    pytest.mark.slow,
    pytest.mark.timeout(180),
]

_PACKAGES = Path(__file__).parents[1] / "claude/node_modules/@anthropic-ai"


@pytest.fixture
def claude() -> Path:
    """The folder with the program for this machine."""
    for found in _PACKAGES.glob("claude-code-*/claude"):
        return found.parent
    pytest.skip("Claude Code could not be installed from its package")


@pytest.fixture
def up(rig: Rig, tmp_path: Path) -> Rig:
    (tmp_path / "person/.ssh").mkdir(parents=True)
    (tmp_path / "person/.ssh/id_ed25519").write_text("the secret")
    (tmp_path / "person/.gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.com\n")
    rig.environment["HOME"] = str(tmp_path / "person")
    rig.start_server()
    rig.start_client()
    return rig


def steps(workspace: Path, outside: Path) -> Iterator[Step]:
    def bash(command: str) -> Step:
        words = {"command": command, "description": "work"}
        return Step(tools=(ScriptedUse(name="Bash", input=words),))

    cart = {"file_path": str(workspace / "cart.py"), "content": "def total():\n    return 2\n"}
    yield Step(text="I write it.", tools=(ScriptedUse(name="Write", input=cart),))
    yield bash("python3 -c 'import cart; assert cart.total() == 2' && echo tests passed")
    yield bash("git add cart.py && git commit -qm 'Add the cart' && git log --format=%s")
    yield bash(f"cat ~/.ssh/id_ed25519; echo planted > {outside}; echo planted > /etc/planted")
    yield bash("curl -sS https://unlisted.example.com/; kill -9 1; pkill -9 -f handrail; echo on")
    hook = '{"hooks": {"PreToolUse": []}}'
    yield bash(f"echo '{hook}' > ~/.claude/settings.json; echo the end")
    yield Step(text="All is done.")


@pytest.mark.behaviour("draft.claude")
async def test_claude_code_works_in_a_draft_and_is_asked_about_once(
    up: Rig, claude: Path, tmp_path: Path
) -> None:
    workspace, outside = up.workspace, tmp_path / "outside.txt"
    run("git init -q -b main", workspace)
    run("git -c user.name=a -c user.email=b commit -qm first --allow-empty", workspace)
    record = tmp_path / "asked.jsonl"
    with serving(Script(steps=tuple(steps(workspace, outside))), record=record) as model:
        up.environment |= {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "key-of-a-test",
            "PATH": f"{claude}:{os.environ['PATH']}",
            "HANDRAIL_HOME": str(up.home),
        }
        environment = {**os.environ, **up.environment}
        words = ("draft", "--", "claude", "-p", "add a cart")
        process = Forged(*words, environment=environment, folder=workspace)

        host = await up.answer(Choice(approved=False, reason="no need"))
        assert host.description == "Let Claude Code connect to unlisted.example.com:443"
        await _until_asked_again(up)
        assert run("git log --format=%s; ls", workspace) == "first\n"
        card = await up.answer(Choice(approved=True))
        said, _ = await asyncio.to_thread(process.communicate, 60)

    assert process.wait() == 0, said
    assert "All is done." in said
    assert "Add the cart" in card.evidence
    assert "not kept: .claude/settings.json" in card.evidence
    assert run("git log --format=%s; ls; git status --short", workspace) == (
        "Add the cart\nfirst\ncart.py\n"
    )
    assert run("git log -1 --format=%an", workspace) == "Ada\n"
    told = record.read_text()
    assert "tests passed" in told
    assert "the end" in told
    assert "the secret" not in told
    assert not outside.exists()
    assert not (tmp_path / "person/.claude/settings.json").exists()
    assert [*(tmp_path / "person/.claude/projects").rglob("*.jsonl")]

    [(call,)] = up.rows("SELECT id FROM tool_executions WHERE tool_name = 'apply_draft'")
    undone = await asyncio.to_thread(up.run, "undo", call, "--workspace", str(workspace))
    assert undone.returncode == 0, undone.stdout
    assert run("git log --format=%s; ls", workspace) == "first\n"


async def _until_asked_again(rig: Rig) -> None:
    async with asyncio.timeout(60):
        while (await rig.question()).tool_name != "apply_draft":
            await asyncio.sleep(0.1)
