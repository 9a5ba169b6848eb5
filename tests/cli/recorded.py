"""`handrail`, writing down every command line that it starts, as Python tells its audit hooks."""

import json
import os
import sys

from handrail.cli.main import main

_STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system")


def _record(event: str, details: tuple[object, ...]) -> None:
    if event.startswith(_STARTS) or event == "webbrowser.open":
        # The last argument of most is the environment, which only its owner can read.
        words = json.dumps([event, *details[:2]], default=str)
        with open(os.environ["STARTED"], "a", encoding="utf-8") as file:
            file.write(f"{words}\n")


sys.addaudithook(_record)
main()
