"""A browser that writes down its arguments, follows the page it is given, and signs in."""

import json
import re
import stat
import sys
import urllib.request
from pathlib import Path

recorded, address = Path(sys.argv[1]), sys.argv[2]
page = Path(urllib.request.url2pathname(address.removeprefix("file://")))
modes = [stat.S_IMODE(one.stat().st_mode) for one in (page, page.parent)] if page.exists() else []
with recorded.open("a") as file:
    file.write(json.dumps({"argv": sys.argv, "modes": modes}) + "\n")
found = re.search(r'url=(.+?)/#(hr_[^"]+)', page.read_text()) if page.exists() else None
if found is not None:
    request = urllib.request.Request(
        f"{found[1]}/console/session",
        json.dumps({"link": found[2]}).encode(),
        {"content-type": "application/json", "user-agent": "a test's browser"},
    )
    urllib.request.urlopen(request, timeout=20).close()
