"""The project of a small shop, and the forty calls of an ordinary coding session in it."""

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from tests.journeys.environment import make_environment

CART = '''"""A small shopping cart."""

from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    price: float
    quantity: int = 1


@dataclass
class Cart:
    items: list[Item] = field(default_factory=list)

    def add(self, item: Item) -> None:
        self.items.append(item)

    def total(self) -> float:
        return sum(item.price for item in self.items)
'''
TEST = """from shop.cart import Cart, Item


def test_total_counts_quantity():
    cart = Cart()
    cart.add(Item("tea", 2.5, 4))
    assert cart.total() == 10.0
"""
PYPROJECT = """[project]
name = "shop"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = []
"""
WEB_TEST = """const test = require('node:test'); const assert = require('node:assert');
test('adds', () => assert.equal(1 + 1, 2));
"""
PACKAGE = {
    "name": "shop-web",
    "version": "0.1.0",
    "private": True,
    "scripts": {"test": "node --test web/"},
}
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "tests/test_cart.py": TEST,
    "pyproject.toml": PYPROJECT,
    "package.json": f"{json.dumps(PACKAGE)}\n",
    "web/price.test.js": WEB_TEST,
    "README.md": "# Shop\n\nA small shop.\n",
    ".gitignore": ".venv/\n__pycache__/\nnode_modules/\n",
}
FIXED = CART.replace("sum(item.price for", "sum(item.price * item.quantity for")
MORE_TESTS = f"{TEST}\n\ndef test_empty():\n    assert Cart().total() == 0\n"
DISCOUNT = "def apply(total, percent):\n    return total * (1 - percent / 100)\n"
DISCOUNT_TEST = (
    "from shop.discount import apply\n\n\ndef test_apply():\n    assert apply(100, 10) == 90\n"
)
NEW_README = "# Shop\n\nA small shop with a cart and discounts.\n"
NEW_PYPROJECT = PYPROJECT.replace("dependencies = []", 'dependencies = ["httpx"]')


class Call(NamedTuple):
    """A call; `beforehand` says that a person is asked before its effects can be known."""

    tool: str
    params: dict[str, Any]
    beforehand: bool = False

    def __str__(self) -> str:
        """In brief, for a list."""
        return f"{self.tool} {' '.join(str(value)[:70] for value in self.params.values())}"


def make_shop(root: Path) -> None:
    """Put the project into an empty folder, with its history and its environment."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    # Without network pip would try again and again.
    settings = make_environment(root, "pytest", "pip") / "pip.conf"
    settings.write_text("[global]\nretries = 0\n")
    git = ["git", "-c", "init.defaultBranch=main"]
    for words in (
        ["init", "--quiet"],
        ["config", "user.email", "dev@example.org"],
        ["config", "user.name", "Dev"],
        ["add", "-A"],
        ["commit", "--quiet", "-m", "First"],
    ):
        subprocess.run([*git, *words], cwd=root, check=True, capture_output=True)


def calls_in(workspace: Path) -> list[Call]:
    return [
        _list("."),
        _read("README.md"),
        _read("pyproject.toml"),
        _list(".", recursive=True, pattern="*.py"),
        Call("search_code", {"pattern": "def total"}),
        _read("shop/cart.py"),
        _read("tests/test_cart.py"),
        _git("status"),
        _git("log", "--oneline", "-5"),
        _run(".venv/bin/pytest", "-q"),
        _run("pytest", "-q"),
        _run("python", "-m", "pytest", "-q"),
        _bash(".venv/bin/python -m pytest -q"),
        _write("shop/cart.py", FIXED),
        _bash(".venv/bin/python -m pytest -q tests/test_cart.py"),
        _git("diff"),
        _write("tests/test_cart.py", MORE_TESTS),
        _bash(".venv/bin/python -m pytest -q 2>&1 | tail -20"),
        _write("shop/discount.py", DISCOUNT),
        _write("tests/test_discount.py", DISCOUNT_TEST),
        _bash(f"cd {workspace} && .venv/bin/python -m pytest -q"),
        _bash("grep -rn 'total' shop tests | head -20"),
        _bash("ls -la && cat package.json"),
        _bash("find . -name '*.py' -not -path './.venv/*' | xargs wc -l"),
        _run("npm", "test"),
        _run("ruff", "check", "."),
        _beforehand(_run("pip", "install", "ruff")),
        _beforehand(_bash(".venv/bin/pip install httpx")),
        _write("README.md", NEW_README),
        _write("pyproject.toml", NEW_PYPROJECT),
        _bash('python3 -c "import shop.cart; print(shop.cart.Cart().total())"'),
        _bash("mkdir -p docs && mv shop/discount.py shop/discounts.py"),
        _bash("sed -i 's/shop.discount /shop.discounts /' tests/test_discount.py"),
        _bash("rm -rf __pycache__ .pytest_cache"),
        _git("status", "--short"),
        _beforehand(_git("add", "-A")),
        _git("diff", "--cached", "--stat"),
        _beforehand(_git("commit", "-m", "Count quantities; add discounts")),
        _beforehand(_bash("git checkout -b feature/discounts && git log --oneline | head -3")),
        _git("push", "-u", "origin", "feature/discounts"),
    ]


def _beforehand(call: Call) -> Call:
    """It needs the network, or changes the repository."""
    return call._replace(beforehand=True)


def _list(path: str, **more: object) -> Call:
    return Call("list_directory", {"path": path, **more})


def _read(path: str) -> Call:
    return Call("read_file", {"path": path})


def _write(path: str, content: str) -> Call:
    return Call("write_file", {"path": path, "content": content})


def _git(action: str, *args: str) -> Call:
    return Call("git", {"action": action, "args": [*args]})


def _run(command: str, *args: str) -> Call:
    return Call("execute_command", {"command": command, "args": [*args], "timeout": 60})


def _bash(line: str) -> Call:
    return Call("run_bash", {"command": line, "timeout": 60})
