"""The tools Handrail ships, and what it would say to a call of one."""

from functools import cache
from typing import NamedTuple, cast

from handrail.core.errors import BadInput
from handrail.core.few import Few
from handrail.core.project import Autonomy
from handrail.core.tool import JsonObject
from handrail.core.verdict import Verdict
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool
from handrail.tools.blame import blaming
from handrail.tools.builtin.apply_draft import ApplyDraft
from handrail.tools.builtin.config import ChangeConfig
from handrail.tools.builtin.delete_file import DeleteFile
from handrail.tools.builtin.discard_draft import DiscardDraft
from handrail.tools.builtin.edit_file import EditFile
from handrail.tools.builtin.execute_command import ExecuteCommand
from handrail.tools.builtin.git import Git
from handrail.tools.builtin.http_request import HttpRequest
from handrail.tools.builtin.list_directory import ListDirectory
from handrail.tools.builtin.memory_forget import MemoryForget
from handrail.tools.builtin.memory_recall import MemoryRecall
from handrail.tools.builtin.memory_store import MemoryStore
from handrail.tools.builtin.move_file import MoveFile
from handrail.tools.builtin.reach_host import ReachHost
from handrail.tools.builtin.read_file import ReadFile
from handrail.tools.builtin.run_bash import RunBash
from handrail.tools.builtin.search_code import SearchCode
from handrail.tools.builtin.self_info import SelfInfo
from handrail.tools.builtin.show_draft import ShowDraft
from handrail.tools.builtin.skill import LoadSkill
from handrail.tools.builtin.write_file import WriteFile
from handrail.tools.judgement import judge_call, may_be_remembered
from handrail.tools.registry import ToolRegistry

# The one list to extend when Handrail itself gets a new tool.
BUILTIN = (
    ReadFile,
    WriteFile,
    EditFile,
    MoveFile,
    DeleteFile,
    ListDirectory,
    SearchCode,
    ExecuteCommand,
    RunBash,
    Git,
    ApplyDraft,
    DiscardDraft,
    ShowDraft,
    MemoryStore,
    MemoryRecall,
    MemoryForget,
    LoadSkill,
    HttpRequest,
    ReachHost,
    ChangeConfig,
    SelfInfo,
)


@cache
def _tools() -> tuple[AnyTool, ...]:
    """Tools have no state, so registries share them: describing their parameters is slow."""
    return tuple(tool() for tool in BUILTIN)


def builtin_registry() -> ToolRegistry:
    return ToolRegistry(_tools())


_shipped = cache(builtin_registry)


class _Known(NamedTuple):
    """A verdict, and the very rules it was given by."""

    rules: Rules
    verdict: Verdict


_known: Few[tuple[str, str, str, Autonomy, bool], _Known] = Few()


def judge(
    tool: str,
    params: JsonObject,
    *,
    workspace: str,
    autonomy: Autonomy | str = Autonomy.SUPERVISED,
    isolated: bool = True,
    policy: Rules | None = None,
    tools: ToolRegistry | None = None,
) -> Verdict:
    """Judge a call by name. Pure: touches no file, no clock and no network.

    Args:
        tool: The tool's name, such as `read_file`.
        params: Its parameters, as an agent would send them.
        workspace: The absolute path of the folder the agent works in.
        autonomy: `read_only`, `supervised` or `full`.
        isolated: Whether commands would run in a proven box, and can be rehearsed.
        policy: Rules to use instead of the shipped ones.
        tools: Tools to choose from instead of the shipped ones.

    Raises:
        BadInput: No tool has that name, the parameters do not fit it, or the autonomy is none.
        BrokenTool: The tool could not be asked.
    """
    registry = _shipped() if tools is None else tools
    try:
        freedom = Autonomy(autonomy)
    except ValueError:
        raise BadInput(f"autonomy is one of {', '.join(Autonomy)}, not {autonomy!r}") from None
    rules = policy or default_rules()
    words = _words_of(tool, params)
    key = (tool, words, workspace, freedom, isolated)
    known = _known.get(key) if tools is None else None
    if known is not None and known.rules is rules:
        return known.verdict
    scene = Scene(workspace, freedom, isolated, rules, rehearses=isolated)
    name, own_params = registry.resolve(tool, params)
    with blaming(name, "while it was judged"):
        asked, parsed = registry.parse(name, own_params)
        verdict = judge_call(asked, parsed, scene)
    if tools is None and may_be_remembered(params, words):
        _known.keep(key, _Known(rules, verdict))
    return verdict


def _words_of(tool: object, params: object) -> str:
    """Who calls this from elsewhere may hand over anything; what no call can be is bad input."""
    if not isinstance(tool, str):
        raise BadInput(f"a tool is named by a text, not by {type(tool).__name__}")
    if not isinstance(params, dict):
        raise BadInput(f"parameters are a table of names, not {type(params).__name__}")
    try:
        return repr(cast(object, params))
    except (RecursionError, ValueError) as error:
        raise BadInput(f"the parameters cannot be sent: {error}") from None
