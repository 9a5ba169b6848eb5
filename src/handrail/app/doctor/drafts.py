"""The check for drafts that cannot be read, or expire soon."""

from datetime import UTC, datetime

from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.drafts import list_drafts


def check_drafts(patient: Patient) -> Finding:
    if patient.credentials is None:
        return Finding("drafts", Health.FINE, "there are none here")
    found = list_drafts(patient.home, patient.credentials)
    for draft in found:
        if draft.trouble:
            words = f"the draft of session {draft.session_id} cannot be read: {draft.trouble}"
            remedy = f"`handrail drafts discard {draft.session_id}` removes it"
            return Finding("drafts", Health.WARN, words, remedy)
    now = datetime.now(UTC)
    soon = [draft.session_id for draft in found if draft.expires_soon(now)]
    if soon:
        words = f"not used for long, and soon saved as a patch and removed: {', '.join(soon)}"
        return Finding("drafts", Health.WARN, words, "`handrail drafts` decides about them")
    words = f"{len(found):,} on this machine" if found else "there are none here"
    return Finding("drafts", Health.FINE, words)
