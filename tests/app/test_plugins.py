"""Tools of installed packages come in by one door, and none of them can break it."""

import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from handrail.app.build_server import build_server
from handrail.app.explain import explain
from handrail.app.plugins import LeftOut, load_toolbox
from handrail.app.settings import Settings
from handrail.core.errors import BrokenTool
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.tools.builtin.read_file import ReadFile
from handrail.tools.catalogue import builtin_registry
from tests.packages import FINE, install

OURS = [tool.name for tool in builtin_registry()]

CLASS = """
from handrail import Tool, ToolParams, ToolResult

class Nothing(ToolParams):
    pass

class Dice(Tool[Nothing]):
    name = "dice"
    description = "Throws a die."
    params = Nothing

    def preview(self, params):
        return "Throw a die"

    async def execute(self, params, scene, hands, facts=None):
        return ToolResult(True, "six")

class Loaded(Dice):
    name = "loaded_dice"

    def pre_validate(self, params, scene):
        raise ZeroDivisionError

class Thief(Dice):
    name = "read_file"

class Old(Dice):
    name = "file_read"

class Trusted(Dice):
    name = "routine"

loaded = Loaded()
nothing = 42

def register_both(registry):
    registry.register(Dice())
    registry.register(Thief())

def register_none(registry):
    pass
"""

Install = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Install]:
    folder = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(folder))

    def add(package: str, source: str, *entry_points: str) -> None:
        install(folder, package, source, *entry_points)

    yield add
    for module in [name for name in sys.modules if name.startswith("hr_")]:
        del sys.modules[module]


def test_without_plugins_there_are_our_own_tools() -> None:
    toolbox = load_toolbox()
    assert [tool.name for tool in toolbox.registry] == OURS
    assert toolbox.left_out == []


@pytest.mark.parametrize(
    ("name", "risk"),
    [
        ("execute_command", "LOW and up"),
        ("http_request", "LOW and up"),
        ("write_file", "MEDIUM"),
        ("of_the_server_alone", "HIGH"),
    ],
)
def test_what_a_tool_is_rated_is_where_judgement_begins(name: str, risk: str) -> None:
    rated = risk if "up" not in risk else "HIGH"
    assert load_toolbox().risk_of(name, rated) == risk


def test_a_plugin_is_a_class_an_instance_or_a_function(installed: Install) -> None:
    installed("hr_one", CLASS, "a = hr_one:Dice", "b = hr_one:loaded")
    installed("hr_two", FINE, "c = hr_two:register")

    toolbox = load_toolbox()

    assert [tool.name for tool in toolbox.registry] == [*OURS, "dice", "loaded_dice", "greet"]
    assert toolbox.left_out == []


@pytest.mark.parametrize(
    ("source", "entry", "reason"),
    [
        (CLASS, "Thief", "two tools are named 'read_file'; rename or remove one"),
        (CLASS, "Old", "'file_read' is another name of 'read_file'; rename the tool"),
        (CLASS, "Trusted", "'routine' is a name reserved by Handrail; rename the tool"),
        (CLASS, "register_both", "two tools are named 'read_file'; rename or remove one"),
        (CLASS, "register_none", "hr_bad:register_none has registered no tool"),
        (CLASS, "nothing", "hr_bad:nothing is neither a Tool nor a function that registers one"),
        (CLASS, "missing", "AttributeError: "),
        (CLASS, "ToolParams", "hr_bad:ToolParams is neither a Tool nor a function"),
        (CLASS, "Tool", "TypeError: "),
        ("import no_such_module_anywhere", "x", "ModuleNotFoundError: "),
        ("this is no Python", "x", "SyntaxError: "),
        ("raise SystemExit('bye')", "x", "SystemExit: bye"),
    ],
    ids=lambda value: value[:24],
)
def test_a_plugin_that_cannot_be_used_is_left_out_whole_with_the_reason(
    installed: Install, source: str, entry: str, reason: str
) -> None:
    installed("hr_bad", source, f"bad = hr_bad:{entry}")
    installed("hr_fine", FINE, "fine = hr_fine:register")

    toolbox = load_toolbox()

    assert [tool.name for tool in toolbox.registry] == [*OURS, "greet"]
    assert isinstance(toolbox.registry.get("read_file"), ReadFile)
    (left_out,) = toolbox.left_out
    assert left_out.origin == "bad of hr_bad 1.0"
    assert left_out.reason.startswith(reason)


def test_of_two_plugins_with_one_name_the_first_by_name_stays(installed: Install) -> None:
    installed("hr_one", CLASS, "b = hr_one:Dice")
    installed("hr_two", CLASS, "a = hr_two:Dice")

    toolbox = load_toolbox()

    assert type(toolbox.registry.get("dice")).__module__ == "hr_two"
    reason = "two tools are named 'dice'; rename or remove one"
    assert toolbox.left_out == [LeftOut("b of hr_one 1.0", reason)]


async def test_a_server_starts_without_what_is_broken_and_says_so(
    installed: Install, settings: Settings
) -> None:
    installed("hr_bad", "raise ValueError('no luck')", "bad = hr_bad:x")
    installed("hr_fine", FINE, "fine = hr_fine:register")

    with capture_logs() as lines:
        async with build_server(settings) as services:
            offered = [tool.name for tool in services.executor.tools]

    assert offered == [*(tool.name for tool in builtin_registry().offered), "greet"]
    assert lines == [
        {
            "event": "tools.left_out",
            "log_level": "warning",
            "where": "server",
            "origin": "bad of hr_bad 1.0",
            "reason": "ValueError: no luck",
        }
    ]


def test_a_call_of_a_plugin_can_be_explained(installed: Install, tmp_path: Path) -> None:
    installed("hr_one", CLASS, "a = hr_one:Dice", "b = hr_one:Loaded")

    assert explain("dice", {}, tmp_path, Autonomy.SUPERVISED).risk is RiskLevel.MEDIUM
    with pytest.raises(BrokenTool, match=r"^loaded_dice failed while it was judged: ZeroDivision"):
        explain("loaded_dice", {}, tmp_path, Autonomy.SUPERVISED)
