"""docs/reference/tools.md: what agents can ask for."""

from handrail.tools.aliases import ALIASES, Alias
from handrail.tools.base import AnyTool
from handrail.tools.catalogue import BUILTIN
from scripts.reference.page import code, codes, page, table
from scripts.reference.schema import request_table


def tools_page() -> str:
    tools: list[AnyTool] = [tool() for tool in BUILTIN]
    return page(
        "Tools",
        "What Handrail ships. Packages can bring [further ones](../howto/write-a-tool.md); "
        "`handrail tools` lists all that a server has. A field that a tool does not know is an "
        "error. What each call is judged to be stands in the "
        "[risk matrix](../tool-risk-assessment-matrix.md).",
        table(
            ("tool", "risk", "effect", "runs on"),
            (
                (
                    f"[{code(tool.name)}](#{tool.name})",
                    risk_of(tool),
                    tool.effect.value,
                    f"the {tool.site}",
                )
                for tool in tools
            ),
        ),
        "A tool whose effect is `read` may be done twice without harm, and is; a `change` is "
        "claimed first, and done once.",
        *map(_section, tools),
    )


def risk_of(tool: AnyTool) -> str:
    """What it is rated; where its parameters say all, what they can come to."""
    if tool.floor is None or tool.floor is tool.safety_level:
        return tool.safety_level.name
    return f"{tool.floor.name} and up, by what is asked for"


def _section(tool: AnyTool) -> str:
    schema = tool.definition.input_schema
    parts = [
        f"## {tool.name}",
        tool.description,
        request_table(schema, schema.get("$defs", {})),
        _large(tool),
        _aliases(tool),
    ]
    return "\n\n".join(filter(None, parts))


def _large(tool: AnyTool) -> str:
    if tool.large is None:
        return ""
    how = "[comes as a blob](../howto/several-calls.md)"
    return f"{code(tool.large)} may be as large as a file; past a megabyte it {how}."


def _aliases(tool: AnyTool) -> str:
    named = {name: alias for name, alias in ALIASES.items() if alias.tool == tool.name}
    words = [f"{code(name)}{_differences(alias)}" for name, alias in named.items()]
    return f"Other names: {', '.join(words)}." if words else ""


def _differences(alias: Alias) -> str:
    renamed = [f"{code(old)} is {code(own)}" for old, own in alias.renamed.items()]
    ignored = [f"{codes(sorted(alias.repeated))} is not needed"] if alias.repeated else []
    return f" ({'; '.join([*renamed, *ignored])})" if renamed or ignored else ""
