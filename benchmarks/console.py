"""The console as a person meets it: in a real browser, with much that waits and much that was."""

import asyncio
import gzip
import json
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Collection, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from benchmarks.guarded import connected
from benchmarks.many import copy_rows
from benchmarks.outcome import Outcome
from benchmarks.task import FILE_NAME, prepare
from benchmarks.worker import worker
from handrail.app.home import Home
from handrail.client.api import HandrailApi
from handrail.client.listening import Listener
from handrail.client.sse import ServerEvent
from handrail.core.access import Role
from handrail.store.schema import tool_executions
from handrail.store.sqlite_file import SqliteFile

NAMES = ("console-size", "console-ready", "console-cards", "console-rows", "decision")

CARDS = 1_000
ROWS = 100_000
ROUNDS = 5
SCROLLS = 3
DECISIONS = 100
MOST_BYTES = 200_000
READY_MS = 1_500
FRAME_MS, TASK_MS = 50, 200
TIMES_HEALTH = 5
_FEW = 250
_AT_ONCE = 16
_PER_AGENT = 100
_BUILT = "server/console/built/assets"
_SECOND = 1_000_000  # in microseconds, as times are stored

# Scrolls an element to its end and back; tells the times between frames, and of the longest task.
_SCROLL = """async (element) => {
  const tasks = [0], frames = [];
  const keep = (all) => all.getEntries().forEach((one) => tasks.push(one.duration));
  const watcher = new PerformanceObserver(keep);
  watcher.observe({ type: "longtask" });
  const frame = () => new Promise(requestAnimationFrame);
  let before = await frame();
  const step = (element.scrollHeight - element.clientHeight) / 150;
  for (let at = 0; at < 300; at++) {
    element.scrollTop += at < 150 ? step : -step;
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  watcher.disconnect();
  return { frames: frames.sort((a, b) => a - b), longest: Math.max(...tasks) };
}"""


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    if "console-size" in wanted:
        yield _size()
    home, workspace = folder / "home", folder / "workspace"
    prepare(workspace)
    with _running(home, workspace):
        asyncio.run(_read(home, workspace, _FEW))
        if "decision" in wanted:
            yield asyncio.run(_decide(home, workspace))
    if {"console-ready", "console-cards", "console-rows"} & set(wanted):
        _multiply(home, ROWS // _FEW)
        with _running(home, workspace):
            yield from asyncio.run(_look(home, workspace, wanted))


@contextmanager
def _running(home: Path, workspace: Path) -> Generator[None]:
    with worker("server", home, workspace) as server, connected(home, workspace, server):
        yield


def _api(home: Path, workspace: Path, who: Role | str) -> HandrailApi:
    """For one of those that `handrail` knows here, or for whoever has a token."""
    known = Home(home).find_credentials(workspace)
    assert known is not None
    token = known.token_for(who) if isinstance(who, Role) else who
    return HandrailApi(known.server, known.project_id, token)


def _size() -> Outcome:
    sent = [
        one
        for one in files("handrail").joinpath(_BUILT).iterdir()
        if one.name.endswith((".js", ".css"))
    ]
    size = sum(len(gzip.compress(one.read_bytes())) for one in sent)
    detail = f"{size / 1000:.0f} kB of script and style, compressed, for all pages; at most 200"
    return Outcome.at_most("console-size", size / MOST_BYTES, 1, detail)


async def _read(home: Path, workspace: Path, count: int) -> None:
    async with _api(home, workspace, Role.AGENT) as agent:
        for number in range(count):
            await _ask(agent, f"read-{number % 20}", "read_file", {"path": FILE_NAME}, wait=10)


async def _ask(agent: HandrailApi, session: str, tool: str, params: Any, wait: float) -> None:
    call = f"{tool}-{time.monotonic_ns()}"
    await agent.execute(tool, params, session_id=session, call_id=call, wait=wait)


async def _decide(home: Path, workspace: Path) -> Outcome:
    """From a yes to the event of it on a stream, against the same way to /health and back."""
    told: list[float] = []
    bare: list[float] = []
    async with (
        _api(home, workspace, Role.AGENT) as agent,
        _api(home, workspace, Role.USER) as person,
        aiohttp.ClientSession(person.server) as anybody,
        _events(person) as events,
    ):
        for number in range(DECISIONS):
            await _ask(agent, "decide", "write_file", _write(f"d{number}.txt"), wait=0)
            question = await _next(events, "tool.approval_request")
            began = time.perf_counter()
            async with anybody.get("/health") as answer:
                await answer.read()
            bare.append(time.perf_counter() - began)
            began = time.perf_counter()
            yes = {"decision": "approved", "scope": "once", "digest": question["digest"]}
            path = f"/approvals/{question['approval_id']}/approve"
            async with asyncio.TaskGroup() as group:
                group.create_task(person.post(path, yes))
                await _next(events, "approval.resolved")
                told.append(time.perf_counter() - began)
    ours, theirs = median(told) * 1000, median(bare) * 1000
    detail = f"{ours:.2f} ms from a yes to the event of it against {theirs:.2f} ms to ask /health"
    return Outcome.at_most("decision", ours / theirs, TIMES_HEALTH, detail)


Events = asyncio.Queue[ServerEvent]


@asynccontextmanager
async def _events(api: HandrailApi) -> AsyncGenerator[Events]:
    events: Events = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        up = asyncio.Event()
        listening = group.create_task(
            Listener(api, events.put_nowait, lambda connected: up.set()).run()
        )
        await up.wait()
        yield events
        listening.cancel()


async def _next(events: Events, name: str) -> Any:
    while (event := await events.get()).name != name:
        pass
    return json.loads(event.data)


def _multiply(home: Path, times: int) -> None:
    """Have all calls happen again and again, a second apart."""
    database = SqliteFile(Home(home).database)
    copy_rows(database, tool_executions, times, -_SECOND)
    database.close()


async def _look(home: Path, workspace: Path, wanted: Collection[str]) -> list[Outcome]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("there is no Chromium here; as root, `make test` installs one")
    outcomes: list[Outcome] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, chromium_sandbox=False, args=["--disable-gpu"]
        )
        page = await browser.new_page()
        await page.goto(_link(home, workspace))
        await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
        if "console-rows" in wanted:
            await page.goto(page.url.replace("/approvals", "/activity"))
            await expect(page.get_by_role("row").nth(5)).to_be_visible()
            rows = page.get_by_role("rowgroup").last
            outcomes.append(await _scroll(rows, "console-rows", f"{ROWS:,} rows"))
        await _make_cards(home, workspace)
        if "console-ready" in wanted:
            outcomes.append(await _ready(browser, page))
        if "console-cards" in wanted:
            await page.goto(page.url.replace("/activity", "/approvals"))
            await expect(page.get_by_role("button", name="Refuse…")).to_be_enabled()
            cards = page.locator(".overflow-auto").filter(has=page.locator("li")).first
            outcomes.append(await _scroll(cards, "console-cards", f"{CARDS:,} cards"))
        await browser.close()
    return outcomes


def _link(home: Path, workspace: Path) -> str:
    return json.loads(_handrail("console", "--json", home=home, workspace=workspace))["address"]


def _handrail(*words: str, home: Path, workspace: Path) -> str:
    command = [sys.executable, "-m", "handrail", *words]
    where = ["--workspace", str(workspace), "--home", str(home)]
    said = subprocess.run([*command, *where], capture_output=True, text=True, check=True)
    return said.stdout


async def _make_cards(home: Path, workspace: Path) -> None:
    """By several agents: each may have so many questions open, and no more."""
    async with _api(home, workspace, Role.USER) as user:
        for first in range(0, CARDS, _PER_AGENT):
            token = _handrail("token", "create", "--role", "agent", home=home, workspace=workspace)
            async with _api(home, workspace, token.strip()) as agent:
                await _write_many(agent, f"agent-{first}", range(first, first + _PER_AGENT))
            await _until(user, first + _PER_AGENT)


async def _write_many(agent: HandrailApi, session: str, numbers: range) -> None:
    for start in range(0, len(numbers), _AT_ONCE):
        await asyncio.gather(
            *(
                _ask(agent, session, "write_file", _write(f"n{number}.txt"), wait=0)
                for number in numbers[start : start + _AT_ONCE]
            )
        )


def _write(path: str) -> Any:
    return {"path": path, "content": "a\nb\n"}


async def _until(user: HandrailApi, count: int) -> None:
    """Until so many wait; a machine looks at each of them first."""
    waiting = 0
    while waiting < count:
        await asyncio.sleep(0.2)
        waiting = len((await user.get("/approvals", status="pending", limit=count))["approvals"])


async def _ready(browser: Browser, signed_in: Page) -> Outcome:
    """A browser that has fetched nothing before, until a card can be decided on."""
    took: list[float] = []
    state = await signed_in.context.storage_state()
    address = signed_in.url.partition("/activity")[0].partition("/approvals")[0]
    for _ in range(ROUNDS):
        context = await browser.new_context(storage_state=state)
        page = await context.new_page()
        began = time.perf_counter()
        await page.goto(f"{address}/approvals", wait_until="commit")
        await page.get_by_role("button", name="Refuse…").wait_for()
        took.append((time.perf_counter() - began) * 1000)
        await context.close()
    detail = f"{median(took):.0f} ms until the first of {CARDS:,} cards stands there; at most 1,500"
    return Outcome.at_most("console-ready", median(took) / READY_MS, 1, detail)


async def _scroll(scroller: Locator, name: str, what: str) -> Outcome:
    told = [await scroller.evaluate(_SCROLL) for _ in range(SCROLLS)]
    p95 = median(one["frames"][int(len(one["frames"]) * 0.95)] for one in told)
    longest = median(one["longest"] for one in told)
    detail = (
        f"{what}: 95 % of frames within {p95:.0f} ms (at most 50), longest task {longest:.0f} ms"
    )
    return Outcome.at_most(name, max(p95 / FRAME_MS, longest / TASK_MS), 1, f"{detail} (200)")
