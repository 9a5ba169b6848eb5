"""docs/reference/settings.md: every variable of the environment."""

from handrail.app.settings import VARIABLES, Variable
from scripts.reference.cli import all_commands, options_of
from scripts.reference.page import code, codes, page, table


def settings_page() -> str:
    return page(
        "Settings",
        "What an option says comes first, then the environment, then the default. Rules are no "
        "settings: what agents may do stands in [policy files](../howto/policy.md).",
        table(
            ("variable", "option", "default", "meaning"),
            (
                (
                    code(variable.name),
                    codes(_options(variable)),
                    code(variable.default) if variable.default else "",
                    variable.meaning,
                )
                for variable in VARIABLES
            ),
        ),
        "Which command takes which option stands in the [commands](cli.md).",
    )


def _options(variable: Variable) -> list[str]:
    """The options that say the same, in whatever command."""
    found = {
        option.opts[0]: None
        for _, command in all_commands()
        for option in options_of(command)
        if option.help == variable.help
    }
    return list(found)
