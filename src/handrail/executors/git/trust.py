"""Settings of a repository that say whom git trusts at a remote, or what it sends where.

Whoever may write to a workspace can set them, and a credential of the person would go by them. So
git reaches nobody while there is one; what is set for all repositories counts in no box anyway.
"""

import re

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.git.credentials import Remote
from handrail.executors.git.unruly import Pairs

_HTTP = re.compile(r"http\.(?:.*\.)?(?P<key>[^.]*)", re.DOTALL)
# How much at once and how long; what counts for who serves a repository; and what is set to
# something else in any case.
_CALM = frozenset(
    {
        *("lowspeedlimit", "lowspeedtime", "maxrequests", "minsessions", "postbuffer", "version"),
        *("keepaliveidle", "keepaliveinterval", "keepalivecount", "noepsv"),
        *("getanyfile", "receivepack", "uploadpack"),
        *("sslverify", "savecookies", "cookiefile"),
    }
)
_ELSEWHERE = re.compile(r"remote\..*\.proxy(?:authmethod)?|fetch\.bundleuri|bundle\..*", re.DOTALL)
_PROMISING = re.compile(r"remote\.(?P<name>.*)\.(?:promisor|partialclonefilter)", re.DOTALL)
_PARTIAL = "extensions.partialclone"
_REWRITING = re.compile(r"url\..*\.(?:push)?insteadof", re.DOTALL)


def refuse_trust(stage: Stage, settings: Pairs) -> None:
    """Refuse to reach a remote by what only this repository says of it.

    Raises:
        CommandExecutionError: It says so.
    """
    if stage.profile is not Profile.NET:
        return
    for name, _ in settings:
        http = _HTTP.fullmatch(name)
        if (http and http["key"] not in _CALM) or _ELSEWHERE.fullmatch(name):
            raise CommandExecutionError(
                f"the setting {visible(_bare(name))} of this repository changes which servers "
                f"git trusts, what it sends or how, so no remote is reached with it; remove it, "
                f"or run this yourself"
            )
    if stage.remote:
        _refuse_promises(stage.remote, settings)


def _refuse_promises(address: str, settings: Pairs) -> None:
    """Refuse remotes from which git would fetch, on its way, what is missing here."""
    promising = [match["name"] for name, _ in settings if (match := _PROMISING.fullmatch(name))]
    promising += [value for name, value in settings if name == _PARTIAL]
    if not promising:
        return
    rewritten = any(_REWRITING.fullmatch(name) for name, _ in settings)
    for remote in promising:
        places = [value for name, value in settings if name == f"remote.{remote}.url"]
        if rewritten or not places or not all(_leads_to(address, place) for place in places):
            raise CommandExecutionError(
                f"this repository makes git fetch missing objects from {visible(remote)}, which "
                f"may not be the named remote; use that one, without settings that rewrite "
                f"addresses (url.*.insteadOf), or remove its promisor setting"
            )


def _leads_to(address: str, place: str) -> bool:
    try:
        return Remote.of(place).address == address.partition(" ")[0]
    except CommandExecutionError:
        return False


def _bare(name: str) -> str:
    """Without who goes to the address in it."""
    return re.sub(r"//[^/]*@", "//", name)
