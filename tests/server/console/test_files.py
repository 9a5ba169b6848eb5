"""The pages of the console are served with a policy that lets nothing else run."""

import gzip
from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import pytest

from handrail.server.app import create_app
from handrail.server.console.files import PAGES, ConsoleFiles
from handrail.server.services import Services
from tests.server.conftest import serving

INDEX = '<script src="/assets/app-1.js"></script>'
SCRIPT = "console.log('a console');" * 50


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "assets/app-1.js").write_text(SCRIPT)
    (tmp_path / "assets/letters-2.woff2").write_bytes(b"\0font")
    return tmp_path


@pytest.fixture
async def browser(services: Services, built: Path) -> AsyncGenerator[aiohttp.ClientSession]:
    app = create_app(services, console=ConsoleFiles(built))
    async with (
        serving(services, app=app) as address,
        aiohttp.ClientSession(address, auto_decompress=False) as session,
    ):
        yield session


@pytest.mark.parametrize("path", ["/", *(f"/{page}" for page in PAGES), "/approvals/apr_1"])
async def test_every_page_is_the_one_page(browser: aiohttp.ClientSession, path: str) -> None:
    async with browser.get(path) as response:
        text = await response.text()

    assert response.status == 200
    assert text.startswith("<script src=")
    assert response.headers["cache-control"] == "no-cache"


async def test_who_looks_at_an_address_that_is_none_is_shown_a_page(
    browser: aiohttp.ClientSession,
) -> None:
    person = {"accept": "text/html,application/xhtml+xml;q=0.9"}
    async with browser.get("/nonsense/there", headers=person) as page:
        assert page.status == 404
        assert (await page.text()).startswith("<script src=")
    async with browser.get("/health", headers=person) as known:
        assert known.content_type == "application/json"
    async with browser.get("/nonsense/there") as told:
        assert told.status == 404
        assert told.content_type == "application/problem+json"


async def test_nothing_runs_in_a_page_but_what_we_serve(browser: aiohttp.ClientSession) -> None:
    async with browser.get("/") as page:
        policy = page.headers["content-security-policy"]

    assert "script-src 'self'; style-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


async def test_files_are_packed_for_who_can_unpack_them_and_kept_for_good(
    browser: aiohttp.ClientSession,
) -> None:
    plain = {"accept-encoding": "identity"}
    async with browser.get("/assets/app-1.js", headers={"accept-encoding": "gzip"}) as packed:
        assert gzip.decompress(await packed.read()).decode() == SCRIPT
        assert "immutable" in packed.headers["cache-control"]
    async with browser.get("/assets/app-1.js", headers=plain) as response:
        assert await response.text() == SCRIPT
        assert response.headers["content-type"].startswith("text/javascript")
        assert response.headers["x-content-type-options"] == "nosniff"
    async with browser.get("/assets/letters-2.woff2") as letters:
        assert await letters.read() == b"\0font"
        assert letters.headers["content-type"] == "font/woff2"


@pytest.mark.parametrize("name", ["none.js", "..%2findex.html", "%2e%2e%2findex.html"])
async def test_nothing_else_is_a_file(browser: aiohttp.ClientSession, name: str) -> None:
    async with browser.get(f"/assets/{name}") as response:
        assert response.status == 404


async def test_where_nothing_was_built_a_plain_page_says_what_runs(
    services: Services, tmp_path: Path
) -> None:
    app = create_app(services, console=ConsoleFiles(tmp_path))
    async with (
        serving(services, app=app) as address,
        aiohttp.ClientSession(address) as session,
        session.get("/") as home,
        session.get("/approvals") as page,
    ):
        assert "Handrail is running" in await home.text()
        assert page.status == 404
