"""handrail budget."""

from pathlib import Path

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, say


def register(app: typer.Typer) -> None:
    app.command("budget")(budget)


def budget(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """Show how many tokens your agents used today, and the limit.

    For example: `handrail budget`

    Tokens are counted by the providers. A day begins at midnight UTC.
    """
    answer = ask(workspace, home, lambda api: api.get("/budget"))
    if json:
        print_json(answer)
        return
    limit = answer["limit_tokens"]
    of = "and there is no limit" if limit is None else f"of {limit:,} ({answer['share']:.0%})"
    say(f"{answer['day']} (UTC): {answer['used_tokens']:,} tokens {of}")
    cached = f", {answer['cached_tokens']:,} of them cached" if answer["cached_tokens"] else ""
    say(f"[dim]{answer['input_tokens']:,} in{cached}, {answer['output_tokens']:,} out[/]")
    if answer["exhausted"]:
        say("[red]The limit is reached: no model is asked until tomorrow (UTC).[/]")
    elif answer["near"]:
        say("[yellow]More than 80 % of the limit is used.[/]")
