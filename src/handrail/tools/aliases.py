"""Names that people know from other systems: accepted, never advertised."""

import shlex
from dataclasses import dataclass, field

from handrail.core.tool import JsonObject


@dataclass(frozen=True, slots=True)
class Alias:
    """Which tool a name stands for, and what its parameters are called there.

    A parameter that is `repeated` says what Handrail knows already, and is not passed on. One that
    is `split` has in one text what is a list of words here.
    """

    tool: str
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    repeated: frozenset[str] = frozenset()
    split: frozenset[str] = frozenset()

    def translate(self, params: JsonObject) -> JsonObject:
        """The parameters under their own names.

        One that was given under both names stays, and is refused like any unknown one.
        """
        return {
            self._own_name(name, params): _words(value) if name in self.split else value
            for name, value in params.items()
            if name not in self.repeated
        }

    def _own_name(self, name: str, params: JsonObject) -> str:
        own = self.renamed.get(name, name)
        return name if own in params else own


def _words(value: object) -> object:
    """A text as a shell would split it; what cannot be split stays, and is refused as no list."""
    try:
        return shlex.split(value) if isinstance(value, str) else value
    except ValueError:
        return value


# Whose call it is, the asker's token says; there it had to be said once more.
_WHOSE = frozenset({"user_id"})

# The one list to extend: a new name for a tool, or, under the tool's own name, for its parameters.
ALIASES = {
    "tool_read_file": Alias("read_file", repeated=_WHOSE),
    "tool_write_file": Alias("write_file", repeated=_WHOSE),
    "tool_list_directory": Alias("list_directory", repeated=_WHOSE),
    "tool_execute_command": Alias("execute_command", repeated=_WHOSE),
    "shell": Alias("run_bash"),
    "file_read": Alias("read_file"),
    "file_write": Alias("write_file"),
    "remember": Alias("memory_store", renamed={"value": "content"}),
    "recall": Alias("memory_recall", renamed={"key": "query"}),
    "git": Alias("git", renamed={"extra": "args"}, split=frozenset({"extra"})),
    "http_request": Alias("http_request", renamed={"payload": "body"}),
}
