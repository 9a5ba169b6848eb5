"""The part of the risk matrix about rules that are code: proven here by calls that they notice."""

from typing import Any, NamedTuple

from handrail.core.risk import RiskLevel
from handrail.tools.catalogue import judge
from scripts.reference.page import code, table

_MEGABYTE = 1_000_000
_NESTED = ["env"] * 5


class Noticed(NamedTuple):
    """A rule, a call that it notices, and how to show that."""

    rule: str
    tool: str
    params: dict[str, Any]
    shown: str


class Seen(NamedTuple):
    """A rule that no single call can show: it takes more than its words."""

    rule: str
    risk: RiskLevel
    words: str


def _read(rule: str, path: str) -> Noticed:
    return Noticed(rule, "read_file", {"path": path}, f"read {code(path)}")


def _write(rule: str, path: str, content: str, encoding: str = "utf-8") -> Noticed:
    how = "" if encoding == "utf-8" else f" as {encoding}"
    params = {"path": path, "content": content, "encoding": encoding}
    return Noticed(rule, "write_file", params, f"write {code(content)} to {code(path)}{how}")


def _change(rule: str, tool: str, shown: str, **params: str) -> Noticed:
    return Noticed(rule, tool, params, shown)


def _write_large(rule: str, path: str, megabytes: int) -> Noticed:
    content = {"blob": "0" * 64, "size": megabytes * _MEGABYTE}
    params = {"path": path, "content": content}
    return Noticed(rule, "write_file", params, f"write {megabytes} MB to {code(path)}")


def _run(rule: str, command: str, *args: str) -> Noticed:
    shown = f"run {code(' '.join([command, *args]))}"
    return Noticed(rule, "execute_command", {"command": command, "args": [*args]}, shown)


def _bash(rule: str, line: str) -> Noticed:
    return Noticed(rule, "run_bash", {"command": line}, f"run {code(line)} as bash")


def _ask(rule: str, url: str, **more: Any) -> Noticed:
    shown = f"{more.get('method', 'GET')} {code(url)}"
    if "headers" in more:
        shown += f" with {code(', '.join(more['headers']))}"
    if "body" in more:
        shown += f" with the body {code(more['body'])}"
    return Noticed(rule, "http_request", {"url": url, **more}, shown)


def _set(rule: str, key: str, value: str) -> Noticed:
    params = {"action": "set", "key": key, "value": value}
    return Noticed(rule, "config", params, f"set {code(key)} to {code(value)}")


NOTICED = (
    _read("path.boundary", "../other/notes.md"),
    _read("path.spelling", "~/notes.md"),
    _write("write.unknown-kind", "notes.xyz", "hello"),
    _write_large("write.large", "notes.md", 2),
    _write_large("size.file", "notes.md", 200),
    _write("write.encoding", "notes.md", "é", "cp1252"),
    _write("write.disguise", "notes.md", "Ã©", "cp1252"),
    _change("write.deletes", "delete_file", "delete `notes.md`", path="notes.md"),
    _change("write.same-path", "move_file", "move `a.md` to `./a.md`", path="a.md", to="./a.md"),
    _run("command.forbidden", "rm", "-rf", "/"),
    _run("command.unlisted", "frobnicate", "all"),
    _run("command.outside", "cat", "/etc/hosts"),
    _run("command.module", "python3", "-m", "uvx", "x"),
    _run("command.spelling", "ls -la"),
    _run("command.workspace", "./run.sh"),
    _run("command.nested", *_NESTED, "ls"),
    _run("command.unboxed", "ls"),
    _bash("bash.not-plain", "ls > files.txt"),
    _bash("bash.fork-bomb", ":(){ :|:& };:"),
    _bash("bash.git", "git diff > x.patch"),
    _bash("bash.piped-code", "cat x.py | python3"),
    _bash("bash.given-code", "python3 <<'E'\nprint(1)\nE"),
    _bash("bash.network", "for p in a b; do npm install $p; done"),
    _bash("bash.spelling", "# list the files"),
    _ask("http.method", "https://example.com/", method="DELETE"),
    _ask("http.url", "example.com"),
    _ask("http.scheme", "file:///etc/passwd"),
    _ask("http.credentials", "https://example.com@10.0.0.1/"),
    _ask("http.host", "http://0x7f000001/"),
    _ask("http.private", "http://169.254.169.254/"),
    _ask("http.port", "http://example.com:6379/"),
    _ask("http.header", "https://example.com/", headers={"Host": "localhost"}),
    _ask("http.body", "https://example.com/", body="x"),
    _set("config.change", "agent.instructions", "Be brief."),
    _set("config.for-people", "agent.base_url", "http://example.com/v1"),
    _set("config.unknown", "agent.colour", "red"),
    _set("config.value", "agent.instructions", "\x1b"),
)
SEEN = (
    Seen("write.executable", RiskLevel.HIGH, "the file that is there can be executed as a program"),
    Seen("write.over-binary", RiskLevel.HIGH, "the file that is there is binary, or not that text"),
    Seen(
        "write.shown-in-part",
        RiskLevel.HIGH,
        "lines of the change are not shown: there are too many",
    ),
    Seen(
        "command.shown-in-part",
        RiskLevel.HIGH,
        "characters of what would run are not shown: there are too many",
    ),
    Seen("command.git-unchecked", RiskLevel.HIGH, "nothing checks what git changes"),
    Seen("command.not-rehearsed", RiskLevel.LOW, "why its effects cannot be shown"),
    Seen("command.asked-again", RiskLevel.LOW, "what has changed since a rehearsal was approved"),
    Seen("effects.never-applied", RiskLevel.FORBIDDEN, "an effect that can never be applied"),
    Seen("effects.git", RiskLevel.MEDIUM, "commits, branches, the index or the stash change"),
    Seen(
        "effects.git-lost", RiskLevel.HIGH, "commits, stashed or uncommitted content would be lost"
    ),
    Seen("effects.git-name", RiskLevel.FORBIDDEN, "a name that is `.git` on some file systems"),
    Seen("effects.git-refused", RiskLevel.FORBIDDEN, "what git may run or trust changes"),
    Seen("effects.git-settings", RiskLevel.MEDIUM, "settings of a repository change"),
    Seen("effects.link-out", RiskLevel.FORBIDDEN, "a link would lead out of the workspace"),
    Seen("effects.many-files", RiskLevel.CRITICAL, "deletes and overwrites more than 100 files"),
    Seen("effects.deletes", RiskLevel.HIGH, "deletes these files or folders"),
    Seen("effects.link", RiskLevel.HIGH, "makes a link"),
    Seen("effects.executable", RiskLevel.HIGH, "makes these files executable"),
    Seen("effects.shown-in-part", RiskLevel.HIGH, "characters of the effects are not shown"),
    Seen("draft.conflict", RiskLevel.FORBIDDEN, "a file was changed in the workspace too"),
    Seen("effects.changes", RiskLevel.MEDIUM, "changes so many files and folders"),
    Seen("command.hosts", RiskLevel.HIGH, "the call asks for network access to these hosts"),
    Seen("command.network", RiskLevel.MEDIUM, "it can reach only these hosts"),
    Seen("http.unlisted", RiskLevel.FORBIDDEN, "the host is not on the operator's list of hosts"),
    Seen("http.unknown", RiskLevel.FORBIDDEN, "the operator's list of hosts cannot be read"),
    Seen("size.params", RiskLevel.FORBIDDEN, "the parameters are more than a megabyte"),
    Seen("chain.value", RiskLevel.MEDIUM, "a parameter of a change came out of an earlier result"),
    Seen("session.told-host", RiskLevel.MEDIUM, "a result of this session has named the host"),
    Seen("session.tainted", RiskLevel.MEDIUM, "the session has read what looks like orders"),
    Seen("policy.autonomy", RiskLevel.LOW, "a policy file leaves agents only so much freedom"),
)


def fixed_rules_table() -> str:
    return table(
        ("rule", "risk", "for example", "what it says"),
        [
            *(_row(one) for one in NOTICED),
            *((code(one.rule), one.risk.name, "", one.words) for one in SEEN),
        ],
    )


def _row(one: Noticed) -> tuple[str, ...]:
    """What the judgement itself says of the call; without that rule in it, there is no page."""
    isolated = one.rule != "command.unboxed"
    verdict = judge(one.tool, one.params, workspace="/workspace", isolated=isolated)
    finding = next(finding for finding in verdict.findings if finding.rule == one.rule)
    return code(one.rule), finding.risk.name, one.shown, finding.reason
