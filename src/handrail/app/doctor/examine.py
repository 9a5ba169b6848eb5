"""doctor: looks at everything Handrail stands on, changes nothing, and never waits for long."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from handrail.app.doctor import boxes, drafts, home, machine, model, toolchains, tools
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.home import Home
from handrail.app.settings import Settings
from handrail.core.errors import HandrailError, SetupError

Check = Callable[[Patient], Finding]

MOST_SECONDS = 15.0

CHECKS: tuple[tuple[str, Check], ...] = (
    ("python", machine.check_python),
    ("home", home.check_home),
    ("disk", home.check_disk),
    ("database", home.check_database),
    ("record", home.check_record),
    ("clock", home.check_clock),
    ("server", home.check_server),
    ("client", home.check_client),
    ("address", machine.check_address),
    ("paths", machine.check_paths),
    ("writes", machine.check_writes),
    ("box", boxes.check_box),
    ("rehearsals", boxes.check_rehearsals),
    ("drafts", drafts.check_drafts),
    ("config", model.check_config),
    ("policy", model.check_policy),
    ("model", model.check_model),
    ("reader", model.check_reader),
    ("toolchains", toolchains.check_toolchains),
    ("tools", tools.check_tools),
    ("search", machine.check_search),
    ("terminal", machine.check_terminal),
    ("limits", machine.check_limits),
)


def examine(
    settings: Settings,
    workspace: Path,
    checks: Sequence[tuple[str, Check]] = CHECKS,
    most_seconds: float = MOST_SECONDS,
) -> list[Finding]:
    """All checks side by side; one that hangs is left behind, and said to."""
    home = Home(settings.home)
    try:
        credentials = home.get_credentials(workspace)
    except SetupError:
        credentials = None
    patient = Patient(settings, home, workspace, credentials)
    deadline = time.monotonic() + most_seconds
    looks = [_Look(subject, check, patient) for subject, check in checks]
    return [look.finding(deadline) for look in looks]


class _Look:
    """One check in a thread that nobody has to wait for: a dead disk holds up only itself."""

    def __init__(self, subject: str, check: Check, patient: Patient):
        self._subject = subject
        self._found: Finding | None = None
        self._thread = threading.Thread(target=self._run, args=(check, patient), daemon=True)
        self._thread.start()

    def finding(self, deadline: float) -> Finding:
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._found is None:
            words = "this check timed out; does a disk or the network hang?"
            return Finding(self._subject, Health.BROKEN, words)
        return self._found

    def _run(self, check: Check, patient: Patient) -> None:
        try:
            self._found = check(patient)
        except (HandrailError, OSError) as error:
            words = f"this check failed: {error}"
            self._found = Finding(self._subject, Health.BROKEN, words)
