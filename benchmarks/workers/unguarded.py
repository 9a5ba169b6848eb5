"""The same file read by a tool of the official MCP SDK, with nothing in between."""

import sys
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer

from benchmarks.worker import say
from handrail.server.serving import bind


def main(workspace: Path, mode: str) -> None:
    server = MCPServer("unguarded", log_level="ERROR")

    @server.tool()
    def read_file(path: str) -> str:
        found = (workspace / path).resolve()
        if not found.is_relative_to(workspace):
            raise ValueError("outside of the workspace")
        return found.read_text(encoding="utf-8")

    plain = mode == "plain"
    app = server.streamable_http_app(json_response=plain, stateless_http=plain)
    with bind("127.0.0.1", 0) as listening:
        say(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        quiet = uvicorn.Config(
            app, loop="uvloop", http="httptools", log_config=None, access_log=False
        )
        uvicorn.Server(quiet).run(sockets=[listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
