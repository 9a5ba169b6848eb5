"""The wheel: it carries the console, and whoever installs it needs no Node."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest

from handrail.server.console.files import ConsoleFiles
from scripts.build_console import with_own_node

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not ConsoleFiles().are_built:
        pytest.skip("the console is not built; `make test` builds it")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (made,) = folder.glob("handrail-*.whl")
    return made


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """A Python with just this wheel and the packages it needs; gives its `python`."""
    folder = tmp_path / "venv"
    venv.create(folder, symlinks=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    # Dependencies come behind what is in the wheel, so that only they are found there.
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def test_what_builds_the_console_finds_node_where_the_system_has_none() -> None:
    env = {"PATH": with_own_node("/none")}
    said = subprocess.run(["/usr/bin/env", "node", "--version"], env=env, capture_output=True)

    assert said.stdout.startswith(b"v24.")


def test_a_wheel_carries_code_rules_and_console_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "handrail/server/console/built/index.html" in names
    assert "handrail/py.typed" in names
    assert "handrail/knowledge/learned/orders.safetensors" in names
    assert any(re.fullmatch(r"handrail/policy/rulebook/defaults/.*\.toml", name) for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"handrail"}
    assert not [name for name in names if "node_modules" in name or name.endswith(".tsx")]


@pytest.mark.behaviour("console.wheel")
def test_the_console_is_there_without_node(installed: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "HANDRAIL_HOME": str(tmp_path / "home"), "PATH": "/none"}
    where = [installed, "-c", "import handrail; print(handrail.__file__)"]
    said = subprocess.run(where, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.startswith(str(installed.parents[1]))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    serve = [installed, "-m", "handrail", "serve", "--workspace", str(workspace), "--port", "0"]
    with subprocess.Popen(
        serve, env=environment | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            lines = iter(server.stdout.readline, "")
            address = next(
                found[0] for line in lines if (found := re.search(r"http://[\w.:]+", line))
            )
            page = urlopen(address, timeout=20).read().decode()
            scripts = re.findall(r'src="(/assets/[\w-]+\.js)"', page)
            code = [urlopen(address + script, timeout=20).read() for script in scripts]
            assert any(b"createRoot" in one for one in code)
        finally:
            server.terminate()
    assert os.fspath(ROOT) not in page
