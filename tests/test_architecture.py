"""The house stays as it was drawn: who may import whom, no circles, no crowded rooms."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import handrail

SOURCE = Path(handrail.__file__).parent

# Each room may import itself and the rooms named here, nothing else of ours.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "policy": {"core"},
    "wire": {"core"},
    "store": {"core"},
    "bus": {"core"},
    "channels": {"core"},
    "tools": {"core", "policy"},
    "executors": {"core", "policy"},
    "knowledge": {"core"},
    "plane": {"core", "policy", "tools"},
    "agent": {"core", "policy", "tools", "knowledge", "plane"},
    "client": {"core", "policy", "tools", "wire"},
    "server": {"core", "wire", "policy", "plane", "knowledge"},
    "testing": {"core", "policy", "tools"},
    "app": {
        "core", "policy", "wire", "store", "bus", "channels", "tools", "executors", "plane",
        "client", "server", "knowledge", "agent",
    },
    "tui": {"channels", "client", "core"},
    "cli": {"app", "client", "core", "tui", "wire"},
}  # fmt: skip

# Names at the top of the house that every room may see.
LOBBY = {"version"}

# Heavy packages, loaded by the one adapter that needs them, when it needs them.
LAZY = {
    ("app/system_keyring.py", "keyring"),
    # The screens bring Textual along, which only they need.
    ("cli/screen.py", "handrail"),
    ("store/migrate.py", "alembic"),
    ("agent/providers/anthropic.py", "anthropic"),
    ("agent/providers/openai.py", "openai"),
    ("knowledge/embedding.py", "numpy"),
    ("knowledge/minilm.py", "numpy"),
    ("knowledge/orders.py", "numpy"),
    ("knowledge/orders.py", "safetensors"),
    ("knowledge/minilm.py", "safetensors"),
    ("knowledge/minilm.py", "threadpoolctl"),
    ("knowledge/minilm.py", "tokenizers"),
}

MOST_LINES_PER_FILE = 350
MOST_LINES_PER_FUNCTION = 60

FILES = sorted(path for path in SOURCE.rglob("*.py") if "migrations" not in path.parts)


def uses_of(module: str, tree: ast.AST) -> set[str]:
    """What is taken out of a module that was imported whole; everything, if it was not."""
    taken: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == module:
                taken.add(attribute)
            case ast.ImportFrom(module=str(origin)) if origin.split(".")[0] == module:
                taken.add("*")
            case _:
                pass
    return taken


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def files_of(room: str) -> list[Path]:
    found = [path for path in FILES if room_of(path) == room]
    assert found
    return found


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                # `from package import module` names a module as well.
                yield from (
                    f"{module}.{alias.name}"
                    if (SOURCE.parent / module.replace(".", "/") / f"{alias.name}.py").exists()
                    else module
                    for alias in names
                )
            case _:
                pass


def assert_none(found: dict[str, set[str]]) -> None:
    """Every file must have nothing of what was found; names all that have."""
    assert {file: names for file, names in found.items() if names} == {}


@cache
def own_imports(path: Path) -> frozenset[str]:
    return frozenset(name for name in imports_of(tree_of(path)) if name.split(".")[0] == "handrail")


def test_a_room_imports_only_the_rooms_below_it() -> None:
    wrong: dict[str, set[str]] = {}
    for path in FILES:
        room = room_of(path)
        if room not in {"__init__", "__main__", "version"}:
            found = {name.split(".")[1] for name in own_imports(path) if "." in name}
            wrong[name_of(path)] = found - (MAY_IMPORT[room] | {room} | LOBBY)
    assert_none(wrong)


def test_every_room_stands_in_the_table() -> None:
    rooms = {room_of(path) for path in FILES} - {"__init__", "__main__"} - LOBBY
    assert rooms == set(MAY_IMPORT)


def test_the_core_needs_nothing_but_the_standard_library() -> None:
    allowed = sys.stdlib_module_names - {"asyncio", "logging", "socket", "sqlite3", "os"}
    assert_none(
        {
            name_of(path): {name.split(".")[0] for name in imports_of(tree_of(path))}
            - (allowed | {"handrail"})
            for path in files_of("core")
        }
    )


def test_the_plane_knows_no_tool_by_name() -> None:
    allowed = {"base", "blame", "diff", "judgement", "outcome", "registry"}
    assert_none(
        {
            name_of(path): {name for name in own_imports(path) if name.startswith("handrail.tools")}
            - {f"handrail.tools.{name}" for name in allowed}
            for path in files_of("plane")
        }
    )


def test_a_tool_touches_the_world_only_through_hands() -> None:
    reach = {"os", "subprocess", "socket", "pathlib", "shutil", "aiohttp", "io"}
    for path in (SOURCE / "tools").rglob("*.py"):
        tree = tree_of(path)
        assert not {name.split(".")[0] for name in imports_of(tree)} & reach, name_of(path)
        # To think in a thread, and to know who calls it off, is all that this room may want of
        # asyncio, which can reach far.
        harmless = {"to_thread", "current_task", "CancelledError"}
        assert uses_of("asyncio", tree) <= harmless, name_of(path)


def test_the_sandbox_knows_nothing_of_git() -> None:
    rooms = ("git", "git_effects", "guarded", "rehearsal", "repository")
    of_git = tuple(f"handrail.executors.{room}" for room in rooms)
    assert_none(
        {
            name_of(path): {name for name in own_imports(path) if name.startswith(of_git)}
            for path in (SOURCE / "executors/sandbox").glob("*.py")
        }
    )


def test_no_module_imports_itself_round_a_corner() -> None:
    graph = {module_of(path): own_imports(path) for path in FILES if name_of(path) != "__init__.py"}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " → ".join((*way[way.index(module) :], module))
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_no_package_imports_another_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for path in FILES:
        own = package_of(module_of(path))
        imported = {*map(package_of, own_imports(path))}
        graph.setdefault(own, set()).update(one for one in imported if are_apart(own, one))
    # The package at the top imports everything, and its version is read everywhere.
    del graph[""]

    circles = sorted(
        f"{package} ⇄ {other}"
        for package, imported in graph.items()
        for other in imported
        if package < other and package in reached_from(other, graph)
    )
    assert not circles, "move what both need into a package below them"


def are_apart(package: str, other: str) -> bool:
    """Whether neither package holds the other; the modules of one package are checked above."""
    return not f"{package}.".startswith(f"{other}.") and not f"{other}.".startswith(f"{package}.")


def reached_from(package: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = [package]
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def package_of(module: str) -> str:
    """The folder of a module, at most two below the top; empty for the top itself."""
    folder = SOURCE.parent / module.replace(".", "/")
    parts = module.split(".") if folder.is_dir() else module.split(".")[:-1]
    return ".".join(parts[1:3])


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_import_hides_in_a_function() -> None:
    hidden = {
        (name_of(path), name.split(".")[0])
        for path in FILES
        for function in functions_of(path)
        for name in imports_of(function)
    }
    assert hidden <= LAZY


def test_no_room_is_crowded() -> None:
    crowded = [
        f"{name_of(path)}: {lines} lines"
        for path in FILES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES_PER_FILE
    ]
    crowded += [
        f"{name_of(path)}: {node.name}: {lines} lines"
        for path in FILES
        for node in functions_of(path)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MOST_LINES_PER_FUNCTION
    ]
    assert not crowded


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
