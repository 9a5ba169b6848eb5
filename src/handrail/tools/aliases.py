"""Names that people know from other systems: accepted, never advertised."""

from dataclasses import dataclass, field

from handrail.core.tool import JsonObject


@dataclass(frozen=True, slots=True)
class Alias:
    """Which tool a name stands for, and what its parameters are called there.

    A parameter that is `repeated` says what Handrail knows already, and is not passed on.
    """

    tool: str
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    repeated: frozenset[str] = frozenset()

    def translate(self, params: JsonObject) -> JsonObject:
        """The parameters under their own names.

        One that was given under both names stays, and is refused like any unknown one.
        """
        return {
            self._own_name(name, params): value
            for name, value in params.items()
            if name not in self.repeated
        }

    def _own_name(self, name: str, params: JsonObject) -> str:
        own = self.renamed.get(name, name)
        return name if own in params else own


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
}
