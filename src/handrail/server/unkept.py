"""Says of every answer: do not keep it, and do not take it for something else."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Unkept:
    """An answer that has a word of its own about one of them keeps it."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_unkept(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                said = {name for name, _ in headers}
                message["headers"] = [*headers, *(one for one in _ALWAYS if one[0] not in said)]
            await send(message)

        await self._app(scope, receive, send_unkept if scope["type"] == "http" else send)
