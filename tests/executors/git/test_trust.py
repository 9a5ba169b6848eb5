"""What a repository says of remotes decides neither whom git trusts there nor what it sends."""

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.git.trust import refuse_trust

ORIGIN = "https://git.example.com/a.git"
FETCH = Stage(("git", "fetch", "origin"), Profile.NET, programs=("git",), remote=ORIGIN)
AT_ORIGIN = ("remote.origin.url", "https://me:secret@git.example.com/a.git")
PROMISE = ("remote.origin.promisor", "true")


@pytest.mark.parametrize(
    "name",
    [
        *("http.sslcainfo", "http.sslcapath", "http.sslbackend", "http.sslcert", "http.sslkey"),
        *("http.proxy", "http.proxysslcainfo", "http.curloptresolve", "http.extraheader"),
        *("http.followredirects", "http.pinnedpubkey", "http.emptyauth", "http.useragent"),
        *("http.what-comes-next", "http.https://git.example.com/.sslcainfo"),
        *("http.https://git.example.com/a.git.proxy", "remote.origin.proxy"),
        *("remote.origin.proxyauthmethod", "fetch.bundleuri"),
    ],
)
def test_a_setting_that_git_would_go_by_is_named(name: str) -> None:
    with pytest.raises(CommandExecutionError, match=f"the setting {name} of this repository"):
        refuse_trust(FETCH, [("core.bare", "false"), (name, "x")])


def test_who_goes_to_an_address_is_not_told() -> None:
    with pytest.raises(CommandExecutionError, match=r"http\.https://git\.example\.com/\.proxy"):
        refuse_trust(FETCH, [("http.https://me:secret@git.example.com/.proxy", "x")])


@pytest.mark.parametrize(
    "name", ["http.postbuffer", "http.version", "http.https://x.example/.lowspeedtime", "url.x.y"]
)
def test_what_says_how_much_and_how_fast_may_stay(name: str) -> None:
    refuse_trust(FETCH, [(name, "1")])


def test_what_reaches_nobody_is_not_asked() -> None:
    refuse_trust(FETCH._replace(profile=Profile.WRITE), [("http.sslcainfo", "x")])


def test_what_is_missing_may_come_from_the_remote_that_was_named() -> None:
    refuse_trust(FETCH, [AT_ORIGIN, PROMISE, ("extensions.partialclone", "origin")])


@pytest.mark.parametrize(
    "settings",
    [
        [AT_ORIGIN, ("remote.x.url", "https://x.example/a"), ("remote.x.promisor", "true")],
        [AT_ORIGIN, ("remote.x.partialclonefilter", "blob:none")],
        [AT_ORIGIN, ("extensions.partialclone", "https://x.example/a")],
        [AT_ORIGIN, ("remote.origin.url", "/elsewhere"), PROMISE],
        [AT_ORIGIN, PROMISE, ("url.https://x.example/.insteadof", "https://")],
    ],
)
def test_what_is_missing_comes_from_no_other(settings: list[tuple[str, str]]) -> None:
    with pytest.raises(CommandExecutionError, match="makes git fetch missing objects from"):
        refuse_trust(FETCH, settings)
