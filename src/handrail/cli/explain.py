"""handrail explain."""

import json as json_module
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from handrail.app.explain import explain as explain_call
from handrail.cli import options
from handrail.cli.output import print_json, say, visible
from handrail.core.errors import BadInput
from handrail.core.project import Autonomy
from handrail.core.risk import Layer
from handrail.core.verdict import Ruling, Verdict
from handrail.wire.policy import ExplainedFinding

_BEHIND_DASHES = "put a command behind `--`, as in `handrail explain -- git status`"
_COLOURS = {
    Ruling.ALLOW: "green",
    Ruling.DRAFT: "cyan",
    Ruling.REHEARSE: "cyan",
    Ruling.ASK: "yellow",
    Ruling.DENY: "red",
}
_LISTS = """a list is written as NAME='["a", "b"]', or as NAME=a NAME=b"""


class _BehindDashes(TyperCommand):
    """Remembers which words stand behind `--`, where a command begins that is not ours."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, *behind = args[args.index("--") :] if "--" in args else [None]
        ctx.meta[__name__] = behind
        ours = {name for param in self.get_params(ctx) for name in param.opts}
        strange = [word for word in args if word[:1] == "-" and word.partition("=")[0] not in ours]
        if strange and "--" not in args:
            raise BadInput(f"{strange[0]!r} is not an option; {_BEHIND_DASHES}")
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    app.command("explain", cls=_BehindDashes)(explain)


def explain(
    context: typer.Context,
    tool: Annotated[str, typer.Argument(help="The tool's name, such as read_file.")],
    params: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE", help="Its parameters.")
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    autonomy: Annotated[Autonomy, typer.Option(help="What the agent may do without asking.")] = (
        Autonomy.SUPERVISED
    ),
    json: options.Json = False,
) -> None:
    """Show how a call would be judged, without running it.

    For example: `handrail explain read_file path=.env`, or, for a command as an agent would run
    it: `handrail explain -- npm install express`
    """
    words = params or []
    if [tool, *words] == context.meta[__name__]:
        name, values = "execute_command", {"command": tool, "args": words}
    else:
        name, values = tool, read_params(words)
    try:
        verdict = explain_call(name, values, workspace, autonomy, home)
    except BadInput as error:
        if "valid list" not in error.message:
            raise
        raise BadInput(f"{error.message}; {_LISTS}") from error
    if json:
        print_json(
            {
                "ruling": verdict.ruling,
                "risk": verdict.risk.name,
                "reasons": verdict.reasons,
                "rules": [finding.rule for finding in verdict.findings],
                "timeout_seconds": verdict.timeout_seconds,
                "findings": [ExplainedFinding.of(one).model_dump() for one in verdict.findings],
            }
        )
        return
    say_verdict(verdict)


def say_verdict(verdict: Verdict) -> None:
    """The verdict for a person: the ruling and what it means, then every reason."""
    ruling = verdict.ruling
    left = f", {verdict.timeout_seconds} s to answer" if verdict.timeout_seconds else ""
    say(f"[{_COLOURS[ruling]} bold]{ruling}[/]: {ruling.meaning}, risk {verdict.risk.name}{left}")
    for finding in verdict.findings:
        # Where the rule is not a shipped one, the reason itself names it.
        rule = f"  [dim]({finding.rule})[/]" if finding.layer is Layer.SHIPPED else ""
        say(f"  {visible(finding.reason)}{rule}")
    if not verdict.findings:
        say("  no rule objects to it")


def read_params(pairs: list[str]) -> dict[str, Any]:
    """`name=value` pairs; a value that is JSON counts as such, any other as text.

    A name that comes again makes a list of its values.
    """
    params: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise BadInput(f"{pair!r} is not NAME=VALUE; {_BEHIND_DASHES}")
        seen[name] += 1
        read = _read_value(value)
        match seen[name]:
            case 1:
                params[name] = read
            case 2:
                params[name] = [params[name], read]
            case _:
                params[name].append(read)
    return params


def _read_value(words: str) -> Any:
    try:
        return json_module.loads(words)
    except ValueError:
        return words
