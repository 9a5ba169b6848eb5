"""A person who talks with the agent of a rig, and a model's server that plays its part."""

import asyncio
import secrets
from pathlib import Path
from typing import Any

from tests.journeys.conftest import Rig
from tests.model_server.server import ModelServer

KEY = "sk-played-0123456789"
_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_PATHS = {"anthropic": "", "openai": "/v1"}


class Talk:
    """One conversation over real HTTP; what a crash swallows is asked for again."""

    def __init__(self, rig: Rig, model: ModelServer, provider: str = "anthropic"):
        self._rig = rig
        self._model = model
        rig.environment |= {
            "HANDRAIL_PROVIDER": provider,
            "HANDRAIL_MODEL": "a-model",
            "HANDRAIL_BASE_URL": model.url + _PATHS[provider],
            _VARIABLES[provider]: KEY,
        }
        self.session_id = f"talk-{secrets.token_hex(4)}"

    async def say(self, text: str) -> str:
        """Say something; gives the id of the run."""
        name = f"msg_{secrets.token_hex(16)}"
        body = {"text": text, "session_id": self.session_id, "message_id": name}
        answer = await self._rig.as_person(lambda api: api.post("/chat/messages", body))
        return answer["run"]["run_id"]

    async def messages(self) -> dict[str, Any]:
        return await self._rig.as_person(
            lambda api: api.get("/chat/messages", session_id=self.session_id, limit=200)
        )

    async def end(self) -> dict[str, Any]:
        """Wait until the latest run is over; gives it."""
        async with asyncio.timeout(50):
            while True:
                run = (await self.messages())["run"]
                if run is not None and run["status"] != "running":
                    return run
                await asyncio.sleep(0.05)

    async def answer(self) -> str:
        """The agent's last words."""
        said = [one for one in (await self.messages())["messages"] if one["role"] == "assistant"]
        return "".join(part["text"] for part in said[-1]["parts"] if part["type"] == "text")

    async def told(self) -> list[tuple[bool, str]]:
        """What tools have told the model: whether it was an error, and the words."""
        messages = (await self.messages())["messages"]
        parts = [part for one in messages for part in one["parts"]]
        return [(one["is_error"], one["text"]) for one in parts if one["type"] == "tool_answer"]

    def stored_replies(self) -> int:
        """How many replies of the model are in the database, seen from outside."""
        statement = "SELECT count(*) FROM messages WHERE speaker = 'assistant'"
        return self._rig.rows(statement)[0][0]

    def steps_asked(self) -> list[int | None]:
        """Which steps of the script the model was asked for, in order."""
        return [request.step for request in self._model.requests]


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
