"""Another user than root, who runs programs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import handrail

USER, GROUP = 64_321, 64_321
SOURCE = Path(handrail.__file__).parent.parent


def start(words: list[str], folder: Path, **others: str) -> subprocess.CompletedProcess[str]:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return subprocess.run(
        words,
        user=USER,
        group=GROUP,
        extra_groups=[],
        cwd=folder,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "PYTHONPATH": ":".join([str(SOURCE), *packages]),
            "PYTHONDONTWRITEBYTECODE": "1",
            **others,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def interpreters() -> Iterator[str]:
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    yield sys.executable
    yield from (f"{folder}/{name}" for folder in ("/usr/bin", "/usr/local/bin"))
