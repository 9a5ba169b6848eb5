"""Photographs the console on a real server with a day behind it: part of `make pictures`."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from handrail.app.home import Home
from handrail.client.api import HandrailApi
from handrail.core.access import Role
from handrail.server.console.files import PAGES

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SIZE: ViewportSize = {"width": 1280, "height": 800}
# Of every page there is a picture in both themes when a folder is named; the documents need these.
SHOWN = {"approvals": "dark", "activity": "light", "policy": "dark"}

BEFORE = """\
[server]
host = "127.0.0.1"
retries = 3
timeout = 10
verify_tls = true
"""
RETRY = """\
import time


def retry(times, work):
    for left in range(times, 0, -1):
        try:
            return work()
        except OSError:
            if left == 1:
                raise
            time.sleep(1)
"""
TEST = """\
import unittest


class TestShop(unittest.TestCase):
    def test_it_is_open(self):
        self.fail("the server did not answer")
"""
# Of one draft. What its agent claims is not what its last step says.
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("write_file", {"path": "app/retry.py", "content": RETRY}),
    ("run_bash", {"command": "sed -i 's/retries = 3/retries = 5/; s/true/false/' config.toml"}),
    ("run_bash", {"command": "python3 -m unittest tests/test_shop.py 2> report.txt"}),
)
READS = ("README.md", "app/main.py", "app/settings.py", "tests/test_main.py")
WRITES = ("app/main.py", "app/settings.py", "docs/notes.md", "tests/test_main.py", "CHANGELOG.md")


@contextmanager
def running(folder: Path) -> Generator[tuple[str, HandrailApi, HandrailApi]]:
    """`handrail up` in a folder of its own: the link that signs in, an agent and a person."""
    home, workspace = folder / "home", folder / "shop"
    for name in {*READS, *WRITES}:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(f"# {name}\n")
    (workspace / "config.toml").write_text(BEFORE)
    (workspace / "tests/test_shop.py").write_text(TEST)
    handrail = [sys.executable, "-m", "handrail"]
    environment = {**os.environ, "HANDRAIL_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*handrail, "up", str(workspace), "--port", "0"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as up:
        assert up.stdout is not None
        up.stdout.readline()
        asking = [*handrail, "console", "--json", "--workspace", str(workspace)]
        said = subprocess.run(
            asking, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        link = json.loads(said.stdout)["address"]
        known = Home(home).find_credentials(workspace)
        assert known is not None
        agent, person = (
            HandrailApi(known.server, known.project_id, known.token_for(role))
            for role in (Role.AGENT, Role.USER)
        )
        try:
            yield link, agent, person
        finally:
            up.terminate()


async def make_a_day(agent: HandrailApi, person: HandrailApi) -> None:
    """Some sixty calls, most of which pass, some asked about, and four that wait."""
    numbers = count(1)

    async def ask(
        tool: str,
        params: dict[str, Any],
        wait: float = 5,
        why: str | None = None,
        session: str | None = None,
    ) -> str:
        number = next(numbers)
        session, call = session or f"session-{number % 3 + 1}", f"call-{number}"
        answer = await agent.execute(
            tool, params, session_id=session, call_id=call, wait=wait, reasoning=why
        )
        return answer["status"]

    for number in range(40):
        await ask("read_file", {"path": READS[number % len(READS)]})
        if number % 4 == 0:
            await ask("execute_command", {"command": "git", "args": ["status"]})
        if number % 5 == 0:
            await ask("execute_command", {"command": "rm", "args": ["-rf", "/"]})
    for number, name in enumerate(WRITES * 3):
        await ask("write_file", {"path": name, "content": f"# {name}\nline {number}\n"}, wait=0)
        await decide_what_waits(person, approve=number % 4 != 3)
    await ask("execute_command", {"command": "npm", "args": ["install", "express"]}, wait=0)
    await ask("run_bash", {"command": "for f in app/*.py; do python3 $f; done"}, wait=0)
    await ask("write_file", {"path": "docs/notes.md", "content": "# Notes\n\nAsk Ada.\n"}, wait=0)
    await asyncio.sleep(1)
    await person.put("/autonomy", {"autonomy": "draft"})
    for tool, params in STEPS:
        await ask(tool, params, session="session-4")
    why = "I only add retries, as you asked. The tests pass."
    await ask("apply_draft", {}, wait=0, why=why, session="session-4")
    await asyncio.sleep(2)


async def decide_what_waits(person: HandrailApi, *, approve: bool) -> None:
    """As soon as the machine has looked at it."""
    waiting: list[dict[str, Any]] = []
    while not waiting:
        await asyncio.sleep(0.05)
        waiting = (await person.get("/approvals?status=pending"))["approvals"]
    for one in waiting:
        question = f"/approvals/{one['approval_id']}"
        if approve:
            yes = {"decision": "approved", "scope": "once", "digest": one["digest"]}
            await person.post(f"{question}/approve", yes)
        else:
            await person.post(f"{question}/reject", {"reason": "Not in this branch."})


async def photograph(link: str, browser: Browser, folder: Path | None) -> None:
    address = link.partition("#")[0].rstrip("/")
    context = await browser.new_context(
        viewport=SIZE, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
    )
    page = await context.new_page()
    await page.goto(link)
    await page.get_by_role("heading", name="Waiting for you").wait_for()
    for name in PAGES:
        for theme in ("dark", "light"):
            await page.emulate_media(color_scheme=theme)
            if SHOWN.get(name) == theme:
                await take(page, f"{address}/{name}", PICTURES / f"console-{name}.png")
            if folder is not None:
                await take(page, f"{address}/{name}", folder / f"{name}-{theme}.png")


async def take(page: Page, address: str, path: Path) -> None:
    await page.goto(address)
    await page.get_by_role("heading", level=1).first.wait_for()
    if address.endswith("approvals"):
        await page.get_by_role("button", name="Apply a draft").first.click()
    if address.endswith("policy"):
        await page.get_by_role("textbox").first.fill("git push --force origin main | tee push.log")
    # Until everything has come and stands still.
    await page.wait_for_timeout(1_200)
    await page.screenshot(path=path)
    print(path)


async def main(folder: Path | None) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("there is no Chromium to take pictures with")
    with tempfile.TemporaryDirectory() as made, running(Path(made)) as (link, agent, person):
        async with agent, person, async_playwright() as playwright:
            await make_a_day(agent, person)
            browser = await playwright.chromium.launch(
                executable_path=chromium, chromium_sandbox=False
            )
            await photograph(link, browser, folder)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
