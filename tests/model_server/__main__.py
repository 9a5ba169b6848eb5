"""The scripted server as a process: it prints its address, and plays until it is ended."""

import argparse
import signal
import sys
import threading
from pathlib import Path

from handrail.agent.providers.script import load_script
from handrail.core.errors import HandrailError
from tests.model_server.server import ModelServer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model_server", description=__doc__)
    parser.add_argument("script", type=Path, help="what to play: a TOML file")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--key", help="answer nobody who has another key")
    parser.add_argument("--record", type=Path, help="write each request to this file, as a line")
    words = parser.parse_args()
    try:
        script = load_script(words.script)
    except HandrailError as error:
        sys.exit(f"model_server: {error}")
    with ModelServer(script, port=words.port, key=words.key, record=words.record) as server:
        signal.signal(
            signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start()
        )
        print(server.url, flush=True)
        server.serve_forever(0.05)


if __name__ == "__main__":
    main()
