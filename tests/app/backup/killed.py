"""Puts a prepared restore in place, and dies by SIGKILL before the nth step of it."""

import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from handrail.app.backup import placing
from handrail.app.home import Home

folder, number = Path(sys.argv[1]), int(sys.argv[2])
seen = 0


def mortal(step: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any) -> Any:
        global seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*args)

    return wrapped


placing.sync_folder = mortal(placing.sync_folder)
placing._keep = mortal(placing._keep)  # pyright: ignore[reportPrivateUsage]
Path.replace = mortal(Path.replace)
Path.rename = mortal(Path.rename)
home, staged = Home(folder), folder / "restore.tmp"
placing.install_files(home, staged)
placing.put_in_place(home, staged / home.database.name, datetime.now(UTC))
