"""handrail doctor."""

from dataclasses import asdict
from pathlib import Path

import typer

from handrail.app.doctor.examine import examine
from handrail.app.doctor.finding import Finding, Health
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows

_MARKS = {
    Health.FINE: "[green]✓[/]",
    Health.NOTE: "[yellow]![/]",
    Health.WARN: "[bold red]![/]",
    Health.BROKEN: "[red]✗[/]",
}
# The one check that says how well commands are kept apart from the machine.
_PROTECTION = "box"


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """Check everything that Handrail depends on.

    For example: `handrail doctor`

    It says how to fix each problem, and changes nothing. The exit code is 1 if something is
    broken.
    """
    findings = examine(load_settings(home=home), workspace)
    broken = [finding for finding in findings if finding.health is Health.BROKEN]
    if json:
        print_json({"well": not broken, "findings": [asdict(finding) for finding in findings]})
    else:
        show(findings)
        say(in_short(findings, len(broken)))
    if broken:
        raise typer.Exit(1)


def show(findings: list[Finding]) -> None:
    rows = Rows()
    for finding in findings:
        words = visible(finding.words)
        if finding.remedy is not None:
            words += f"\n[dim]→[/] {visible(finding.remedy)}"
        rows.add_row(_MARKS[finding.health], finding.health, f"[bold]{finding.subject}[/]", words)
    rows.print()


def in_short(findings: list[Finding], broken: int) -> str:
    if broken:
        return f"\n[red]{broken} of {len(findings)} checks failed.[/]"
    if amiss := [finding.subject for finding in findings if finding.health is Health.WARN]:
        if _PROTECTION in amiss:
            return f"\n[yellow]You could be better protected: see {_PROTECTION} above.[/]"
        return "\n[yellow]See the notes above.[/]"
    return "\n[green]Nothing is broken.[/] Lines marked with ! are worth knowing."
