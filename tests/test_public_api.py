import ast
import subprocess
import sys
from pathlib import Path

import pytest

import handrail

PROMISED = [
    "AgentTools",
    "ApprovalDeniedError",
    "ApprovalManager",
    "Autonomy",
    "CommandExecutionError",
    "CommandExecutor",
    "CommandValidator",
    "Effect",
    "FileOperationError",
    "FileSystemExecutor",
    "Finding",
    "HandrailError",
    "Hands",
    "InjectionReport",
    "PathValidationError",
    "PathValidator",
    "RiskAssessor",
    "RiskLevel",
    "Ruling",
    "Scene",
    "SecurityPolicy",
    "SizeLimiter",
    "Status",
    "StreamingClient",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolExecution",
    "ToolExecutor",
    "ToolHandler",
    "ToolName",
    "ToolParams",
    "ToolRegistry",
    "ToolResult",
    "ToolSafety",
    "ToolSpec",
    "Verdict",
    "__version__",
    "builtin_registry",
    "judge",
    "needs_injection_check",
    "scan",
    "validate_tool_params",
]


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout.strip()


def test_public_names_are_those_we_promised_in_order() -> None:
    assert handrail.__all__ == PROMISED
    assert sorted(PROMISED) == PROMISED


def test_dir_shows_the_public_names() -> None:
    assert dir(handrail) == PROMISED


def test_type_checkers_see_the_same_names_as_programs() -> None:
    tree = ast.parse(Path(handrail.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = [
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(seen) == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_every_public_name_can_be_imported(name: str) -> None:
    thing = getattr(handrail, name)
    assert name == "__version__" or thing.__name__ == name


def test_version_is_made_of_numbers() -> None:
    assert [part.isdigit() for part in handrail.__version__.split(".")[:2]] == [True, True]


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'handrail' has no attribute 'Handle'$"):
        _ = handrail.Handle


def test_importing_handrail_loads_no_heavy_library() -> None:
    heavy = "{'fastapi', 'starlette', 'pydantic', 'sqlalchemy', 'aiohttp', 'alembic'}"
    assert run_python(f"import handrail, sys; print(sorted({heavy} & set(sys.modules)))") == "[]"


def test_using_a_name_loads_only_its_own_home() -> None:
    code = (
        "import handrail, sys; handrail.Status;"
        "print('handrail.core.execution' in sys.modules, 'handrail.tools.base' in sys.modules)"
    )
    assert run_python(code) == "True False"


def test_star_import_gives_every_public_name() -> None:
    names = run_python("from handrail import *; print(*sorted(set(dir())))").split()
    assert set(PROMISED) <= set(names)
