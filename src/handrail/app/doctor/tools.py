"""The check for tools that could not be loaded."""

from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.plugins import OURS, load_toolbox


def check_tools(patient: Patient) -> Finding:
    toolbox = load_toolbox(patient.home.tools)
    if toolbox.left_out:
        first, further = toolbox.left_out[0], len(toolbox.left_out) - 1
        words = f"{first.origin} is left out: {first.reason}"
        words += f" (and {further:,} more)" if further else ""
        return Finding("tools", Health.WARN, words, "fix or remove it; `handrail tools` lists all")
    names = [tool.name for tool in toolbox.registry.offered]
    added = [name for name in names if toolbox.origin_of(name) != OURS]
    words = f"{len(names)} can be used"
    return Finding(
        "tools", Health.FINE, words + (f", among them {', '.join(added)}" if added else "")
    )
