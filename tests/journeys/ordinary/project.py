"""A project with Python, C, web code, documents, data and a history, for ordinary commands."""

import json
import os
import sqlite3
import subprocess
import tarfile
import zipfile
from pathlib import Path

from tests.journeys.environment import make_environment

PACKAGES = ("pytest", "pytest-xdist", "ruff", "hatchling", "pip")
_GENERATOR = """from pathlib import Path
Path("generated.txt").write_text("".join(f"{n}\\n" for n in range(50)))
print("generated")
"""
_IPC = """import fcntl, mmap, multiprocessing.shared_memory as m, os, socket, threading
server = socket.socket(socket.AF_UNIX); server.bind("/tmp/own.sock"); server.listen()
thread = threading.Thread(target=lambda: server.accept()[0].sendall(b"over a socket"))
thread.start()
client = socket.socket(socket.AF_UNIX); client.connect("/tmp/own.sock")
Path = __import__("pathlib").Path
Path("data/socket.txt").write_bytes(client.recv(100)); thread.join()
os.unlink("/tmp/own.sock")
shared = m.SharedMemory(create=True, size=10); shared.buf[:2] = b"ok"
Path("data/shared.txt").write_bytes(bytes(shared.buf[:2])); shared.close(); shared.unlink()
with open("data/mapped.bin", "wb+") as file:
    fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_EX)
    file.truncate(4096)
    with mmap.mmap(file.fileno(), 4096) as mapped:
        mapped[:4] = b"mmap"; mapped.flush()
    os.fsync(file.fileno())
"""
_LOOPBACK = """import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].sendall(b"hello"); print(client.recv(10))
"""
_MIGRATE = """import sqlite3
with sqlite3.connect("data/app.db") as db:
    db.execute("alter table t add column note text")
"""
_SCAFFOLD = """from pathlib import Path
for name in ("env.py", "script.mako", "README", "versions/.keep"):
    path = Path("migrations", name); path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {name}\\n")
"""
_LINT = """#!/usr/bin/env node
const fs = require('fs');
const bad = fs.readdirSync('.').filter(n => n.endsWith('.js') && /  /.test(fs.readFileSync(n)));
bad.forEach(n => console.log(`${n}: two spaces`)); process.exit(bad.length ? 1 : 0);
"""
_FORMAT = """#!/usr/bin/env node
const fs = require('fs'); const [mode, name] = process.argv.slice(2);
const text = fs.readFileSync(name, 'utf8'); const neat = text.replace(/ +/g, ' ');
if (mode === '--write') fs.writeFileSync(name, neat); else process.exit(text === neat ? 0 : 1);
"""
_BUILD = """const fs = require('fs'); fs.mkdirSync('dist', {recursive: true});
for (const name of ['index.html', 'app.js', 'app.css', 'app.js.map'])
  fs.writeFileSync('dist/' + name, '// ' + name + '\\n');
"""
_PATCH = """--- a/docs/p1.txt
+++ b/docs/p1.txt
@@ -1 +1 @@
-foo text 1
+patched text 1
"""
_PACKAGE = {
    "name": "web",
    "version": "1.0.0",
    "scripts": {"test": "node --test test/", "build": "node build.cjs", "lint": "lint"},
}
_MAKEFILE = "main: main.c\n\tcc -o main main.c\n\ntest: main\n\t./main\n"
_C = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
_CMAKE = "cmake_minimum_required(VERSION 3.16)\nproject(h C)\nadd_executable(h main.c)\n"
_WHEEL = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "calc"
version = "1.0"

[tool.pytest.ini_options]
pythonpath = ["."]
"""
_FILES = {
    "py/calc/__init__.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "py/tests/test_calc.py": (
        "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    ),
    "py/test_unit.py": (
        "import unittest\n\nfrom calc import add\n\n\nclass Unit(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(1, 1), 2)\n"
    ),
    "py/ugly.py": "import sys\nimport os\nx   =  1\nprint( os.sep )\n",
    "py/other.py": "import sys, os\ny = [1,2 ]\n",
    "py/pyproject.toml": _WHEEL,
    "scripts/gen.py": _GENERATOR,
    "scripts/ipc.py": _IPC,
    "scripts/loopback.py": _LOOPBACK,
    "scripts/migrate.py": _MIGRATE,
    "scripts/scaffold.py": _SCAFFOLD,
    "c/main.c": _C,
    "c/Makefile": _MAKEFILE,
    "c/CMakeLists.txt": _CMAKE,
    "web/package.json": f"{json.dumps(_PACKAGE)}\n",
    "web/test/sum.test.cjs": (
        "const test = require('node:test'); const assert = require('node:assert');\n"
        "test('adds', () => assert.equal(1 + 1, 2));\n"
    ),
    "web/pure.cjs": "console.log([3, 1, 2].sort().join());\n",
    "web/gen.cjs": "require('fs').writeFileSync('made.json', JSON.stringify({a: 1}));\n",
    "web/build.cjs": _BUILD,
    "web/ugly.js": "const  a  =  1;\n",
    "web/node_modules/own-tools/package.json": '{"name": "own-tools", "version": "1.0.0"}\n',
    "web/node_modules/.bin/lint": _LINT,
    "web/node_modules/.bin/fmt": _FORMAT,
    "docs/a.md": "# A\n\nfoo in a document\n",
    "docs/old.bak": "old\n",
    "docs/deep/older.bak": "older\n",
    "fix.patch": _PATCH,
    ".env": "TOKEN=hunter2\n",
    ".gitignore": ".env\n.venv/\n__pycache__/\n",
    "m2.txt": "m2\n",
    **{f"docs/p{number}.txt": f"foo text {number}\n" for number in range(1, 31)},
}


def make_project(root: Path) -> None:
    """Fill an empty folder; only the programs of this machine are used."""
    for name, content in _FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for name in ("lint", "fmt"):
        (root / "web/node_modules/.bin" / name).chmod(0o755)
    make_environment(root / "py", *PACKAGES)
    _make_data(root)
    _make_history(root)


def _make_data(root: Path) -> None:
    (root / "data").mkdir()
    database = sqlite3.connect(root / "data/app.db")
    database.execute("create table t (a integer)")
    database.execute("insert into t values (1)")
    database.commit()
    database.close()
    with tarfile.open(root / "data/pack.tgz", "w:gz") as archive:
        archive.add(root / "docs", "packed")
    with zipfile.ZipFile(root / "data/pack.zip", "w") as packed:
        for path in sorted((root / "docs").glob("*.txt")):
            packed.write(path, f"packed/{path.name}")


def _make_history(root: Path) -> None:
    def git(*words: str) -> None:
        name = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"]
        command = ["git", "-c", "init.defaultBranch=main", *name, *words]
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)

    git("init", "--quiet")
    git("config", "user.name", "Dev")
    git("config", "user.email", "dev@example.org")
    git("config", "gc.auto", "0")
    git("add", "-A")
    git("commit", "--quiet", "-m", "First")
    git("checkout", "--quiet", "-b", "feature")
    (root / "feat.txt").write_text("feature\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "Feature")
    git("checkout", "--quiet", "main")
    (root / "m2.txt").write_text("m2 again\n")
    git("commit", "--quiet", "-am", "Second")
    with (root / "docs/a.md").open("a") as file:
        file.write("not yet committed\n")
