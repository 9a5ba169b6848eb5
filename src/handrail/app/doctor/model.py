"""The person's settings and rules, and the model that Handrail's own agent would ask."""

import socket
from urllib.parse import urlsplit

from handrail.app.config import Config
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.policy_files import WorkspacePolicy
from handrail.app.provider import Chosen, open_models
from handrail.core.configuration import Source, tell_unknown
from handrail.core.errors import RuleError, SetupError
from handrail.knowledge.minilm import find_weights

_LISTEN_SECONDS = 2.0
_PORTS = {"http": 80, "https": 443}


def check_config(patient: Patient) -> Finding:
    try:
        config = Config(patient.home, patient.settings.overrides)
    except SetupError as error:
        remedy = "fix it there, or move it away; `handrail config list` shows what it may contain"
        return Finding("config", Health.BROKEN, error.message, remedy)
    if config.unknown:
        words = f"{patient.home.config}: {'; '.join(map(tell_unknown, config.unknown))}"
        return Finding("config", Health.NOTE, words, "`handrail config list` shows the valid names")
    changed = sum(one.source is not Source.DEFAULT for one in config.entries())
    return Finding("config", Health.FINE, f"{changed} settings differ from the defaults")


def check_policy(patient: Patient) -> Finding:
    """The operator's file, and the one of this folder."""
    try:
        policy = WorkspacePolicy(patient.home, patient.workspace.resolve())
    except RuleError as error:
        remedy = "fix it, and check it with `handrail policy check`; a server does not start"
        return Finding("policy", Health.BROKEN, error.message, remedy)
    there = [str(path) for path in policy.paths if path.exists()]
    if not there:
        return Finding(
            "policy", Health.FINE, "there is no policy file, only the rules that come with Handrail"
        )
    return Finding("policy", Health.FINE, f"{' and '.join(there)} are valid")


def check_reader(patient: Patient) -> Finding:
    """The small model on this machine, which finds memories and reads what is doubtful."""
    weights = find_weights(patient.settings.memory_weights)
    if weights.folder is None:
        words = f"results and memories are judged by words only: {weights.why_not}"
        return Finding("reader", Health.NOTE, words, "docs/howto/memory.md says how to add it")
    words = "a small model on this machine reads doubtful results and finds memories by meaning"
    return Finding("reader", Health.FINE, words)


def check_model(patient: Patient) -> Finding:
    """Whose model it is and where its key comes from; the key itself is not touched.

    A server of one's own is knocked at; a provider's own address is left alone.
    """
    try:
        chosen = open_models(patient.settings).choose()
    except SetupError as error:
        return Finding("model", Health.NOTE, error.message)
    model = chosen.model or "no model is set"
    where = f" at {chosen.base_url}" if chosen.base_url else ""
    key = f"its key comes from {chosen.key_place}" if chosen.key_place else "no key is set"
    words = f"{chosen.provider}, {model}{where}; {key}"
    if chosen.lacks_key is not None:
        words = f"{chosen.provider}, {model}{where}; {chosen.lacks_key}"
        return Finding("model", Health.NOTE, words)
    if chosen.model is None:
        remedy = "`handrail config set agent.model …` sets it"
        return Finding("model", Health.NOTE, words, remedy)
    if chosen.needs_key and chosen.key_place is None:
        remedy = f"`handrail config set-key {chosen.provider}` asks for it and stores it"
        return Finding("model", Health.NOTE, words, remedy)
    if (trouble := _why_silent(chosen)) is not None:
        remedy = "start the server there, or name another: `handrail config set agent.base_url …`"
        return Finding("model", Health.NOTE, f"{words}; {trouble}", remedy)
    return Finding("model", Health.FINE, words)


def _why_silent(chosen: Chosen) -> str | None:
    """Why nobody answers at an address that a person has set; None where somebody does."""
    if chosen.base_url is None or chosen.needs_key:
        return None
    try:
        parts = urlsplit(chosen.base_url)
        there = (parts.hostname or "", parts.port or _PORTS[parts.scheme])
        socket.create_connection(there, _LISTEN_SECONDS).close()
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"no server is running there ({reason[:1].lower()}{reason[1:]})"
    return None
