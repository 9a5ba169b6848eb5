"""The person's settings, and the model that Handrail's own agent would ask."""

from handrail.app.config import Config
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.provider import open_models
from handrail.core.configuration import Source
from handrail.core.errors import SetupError


def check_config(patient: Patient) -> Finding:
    try:
        config = Config(patient.home, patient.settings.overrides)
    except SetupError as error:
        remedy = "mend it there, or move it away; `handrail config` lists what it may hold"
        return Finding("config", Health.BROKEN, error.message, remedy)
    if config.unknown:
        words = f"{', '.join(config.unknown)} in {patient.home.config} mean nothing to Handrail"
        return Finding("config", Health.NOTE, words, "`handrail config` lists the names there are")
    changed = sum(one.source is not Source.DEFAULT for one in config.entries())
    return Finding("config", Health.FINE, f"{changed} of the settings are not as they come")


def check_model(patient: Patient) -> Finding:
    """Whose model it is and where its key comes from; the key itself is not touched."""
    try:
        chosen = open_models(patient.settings).choose()
    except SetupError as error:
        return Finding("model", Health.NOTE, error.message)
    model = chosen.model or "no model is named"
    where = f" at {chosen.base_url}" if chosen.base_url else ""
    key = f"its key comes from {chosen.key_place}" if chosen.key_place else "no key is set"
    words = f"{chosen.provider}, {model}{where}; {key}"
    if chosen.model is None:
        remedy = "`handrail config set agent.model …` says which"
        return Finding("model", Health.NOTE, words, remedy)
    if chosen.needs_key and chosen.key_place is None:
        remedy = f"`handrail config set-key {chosen.provider}` asks for it and keeps it"
        return Finding("model", Health.NOTE, words, remedy)
    return Finding("model", Health.FINE, words)
