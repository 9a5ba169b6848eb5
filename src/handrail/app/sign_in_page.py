"""The file that takes a browser to the console, so that the sign-in link is in no command line.

Every user of a machine can read the arguments of every process. The browser is therefore started
with the path of a file that only its owner can read, and the file forwards to the link.
"""

import html
import os
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from handrail.app.home import Home
from handrail.app.private_file import write_private

# How long a page is kept for a browser to read it.
PAGE_SECONDS = 60.0

# No script: a meta refresh needs none. A file:// page sends no Referer, and the part of an address
# behind the `#` is sent to no server.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Handrail</title>
</head>
<body><p><a href="{address}">Open the Handrail console</a></p></body>
</html>
"""


@contextmanager
def sign_in_page(home: Home, address: str) -> Generator[Path]:
    """A page that forwards to `address`, for as long as the context is open."""
    home.pages.mkdir(mode=0o700, exist_ok=True)
    remove_old_pages(home)
    page = home.pages / f"{secrets.token_hex(8)}.html"
    try:
        write_private(page, _PAGE.format(address=html.escape(address)))
        yield page
    finally:
        page.unlink(missing_ok=True)


def remove_old_pages(home: Home) -> None:
    """Remove the pages of processes that were killed before they could do so."""
    oldest = time.time() - 2 * PAGE_SECONDS
    with suppress(FileNotFoundError), os.scandir(home.pages) as found:
        for entry in found:
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                Path(entry.path).unlink(missing_ok=True)
