"""Whose server this is: several people can use it, and its settings belong to one of them."""

import getpass

from handrail.core.errors import Forbidden
from handrail.core.ids import UserId
from handrail.core.ports import Store


class Owner:
    """The person who runs this server; who has their name on the machine."""

    def __init__(self, store: Store, name: str | None = None):
        self._store = store
        self._name = getpass.getuser() if name is None else name

    async def is_it(self, user_id: UserId) -> bool:
        return (await self._store.get_user(user_id)).name == self._name

    async def check(self, user_id: UserId) -> None:
        """Let nobody else pass.

        Raises:
            Forbidden: It is somebody else.
        """
        if not await self.is_it(user_id):
            raise Forbidden("only the person who runs this server may do this; ask them")
