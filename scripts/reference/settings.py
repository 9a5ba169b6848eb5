"""docs/reference/settings.md: every variable of the environment."""

from handrail.app.settings import CHANGEABLE, VARIABLES, Variable
from handrail.core.configuration import CATALOGUE, Setting
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
        "## The person's own file",
        "`config.toml` in Handrail's own folder holds what can be changed while it runs; "
        "[how](../howto/config.md). A name with a dot stands for a table: `agent.model` is `model` "
        "in `[agent]`. A variable comes before the file. Agents may ask to change what is for "
        "them too, and nothing else.",
        table(
            (
                "setting",
                "may be",
                "default",
                "variable",
                "for agents too",
                "meaning",
            ),
            map(_row, CATALOGUE),
        ),
    )


def _row(setting: Setting) -> tuple[str, ...]:
    variable = CHANGEABLE.get(setting)
    return (
        code(setting.name),
        setting.bounds,
        "" if setting.default in (None, "") else code(setting.default),
        "" if variable is None else code(variable.name),
        "yes" if setting.agent_may_set else "",
        setting.meaning,
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
