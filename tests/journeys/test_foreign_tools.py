"""Tools that are not ours, from the package to the answer."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.conftest import Rig
from tests.packages import FINE, install

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "handrail-todo-list"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the example was installed as anybody would install it."""
    folder = tmp_path_factory.mktemp("site-packages")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, *offline, "--target", str(folder), str(EXAMPLE)], check=True, timeout=50)
    return folder


@pytest.mark.behaviour("tools.package")
async def test_a_tool_of_an_installed_package_travels_like_ours(rig: Rig, site: Path) -> None:
    rig.environment["PYTHONPATH"] = str(site)
    (rig.workspace / "main.py").write_text("import this  # TODO: read it\n")
    rig.start_server()
    rig.start_client()

    found = await rig.call("todo_list", {"path": "workspace/main.py"}, "call-1")
    refused = await rig.call("todo_list", {"path": "../main.py"}, "call-2")
    listed = rig.run("tools", "--json", "--workspace", str(rig.workspace))

    assert found["result"] == {
        "success": True,
        "promises": [{"line": 1, "kind": "TODO", "text": "read it"}],
        "output": "main.py:1: read it",
    }
    assert (found["status"], found["risk_level"]) == ("completed", "LOW")
    assert (refused["status"], refused["error_type"]) == ("failed", "denied")
    tools = json.loads(listed.stdout)
    assert "todo_list" in [tool["name"] for tool in tools["tools"]]
    assert (tools["missing_here"], tools["left_out"]) == ([], [])
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("tools.file")
async def test_a_tool_in_one_file_travels_like_ours(rig: Rig) -> None:
    page = (EXAMPLE.parent.parent / "docs/howto/write-a-tool.md").read_text(encoding="utf-8")
    section = page.partition("## As one file")[2]
    source = section.partition("```python\n")[2].partition("```")[0]
    tools = rig.home / "tools"
    tools.mkdir(parents=True, mode=0o700)
    rig.home.chmod(0o700)
    for name, text in (("first_words.py", source), ("bad.py", "raise ValueError('no luck')")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o600)
    (rig.workspace / "poem.txt").write_text("so much depends upon")
    rig.start_server()
    rig.start_client()

    found = await rig.call("first_words", {"path": "poem.txt", "count": 2}, "call-1")
    refused = await rig.call("first_words", {"path": "../home/handrail.log"}, "call-2")
    listed = json.loads(rig.run("tools", "--json", "--workspace", str(rig.workspace)).stdout)

    assert (found["status"], found["risk_level"]) == ("completed", "LOW")
    assert found["result"] == {"success": True, "output": "so much"}
    assert (refused["status"], refused["error_type"]) == ("failed", "validation")
    origins = {tool["name"]: tool["origin"] for tool in listed["tools"]}
    assert origins["first_words"] == str(tools / "first_words.py")
    assert origins["read_file"] == "Handrail"
    assert listed["missing_here"] == []
    assert [one["reason"] for one in listed["left_out"]] == ["ValueError: no luck"]
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("tools.package-missing")
async def test_a_package_that_is_missing_on_the_machine_is_told(rig: Rig, site: Path) -> None:
    rig.environment["PYTHONPATH"] = str(site)
    rig.start_server()
    del rig.environment["PYTHONPATH"]
    rig.start_client()

    answer = await rig.call("todo_list", {"path": "main.py"})
    listed = rig.run("tools", "--workspace", str(rig.workspace))

    assert (answer["status"], answer["error_type"]) == ("failed", "validation")
    assert answer["error"].startswith(f"there is no tool 'todo_list' on {platform.node()}, ")
    assert "not on this machine  todo_list" in listed.stdout


@pytest.mark.behaviour("tools.package-broken")
async def test_a_package_that_breaks_takes_nothing_with_it(rig: Rig, tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    install(folder, "hr_bad", "raise ValueError('no luck')", "bad = hr_bad:register")
    broken = FINE.replace('return "hello"', "raise SystemExit").replace('"greet"', '"slip"')
    install(folder, "hr_slips", broken, "slip = hr_slips:register")
    rig.environment["PYTHONPATH"] = str(folder)
    (rig.workspace / "README.md").write_text("hello")
    rig.start_server()
    client = rig.start_client()

    slipped = await rig.call("slip", {}, "call-1")
    read = await rig.ask("README.md", "call-2")
    listed = rig.run("tools", "--workspace", str(rig.workspace))

    assert (slipped["status"], slipped["error_type"]) == ("failed", "internal")
    assert slipped["error"] == "slip failed on the client: SystemExit"
    assert read["result"]["content"] == "hello"
    assert client.poll() is None
    assert "not loaded  bad of hr_bad 1.0: ValueError: no luck" in listed.stdout
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("tools.old-names")
async def test_old_names_are_understood_and_not_told(rig: Rig) -> None:
    (rig.workspace / "README.md").write_text("hello")
    rig.start_server()
    rig.start_client()

    old = await rig.call("tool_read_file", {"path": "README.md", "user_id": "ada"}, "call-1")
    again = await rig.call("read_file", {"path": "README.md"}, "call-1")
    listed = rig.run("tools", "--json", "--workspace", str(rig.workspace))

    assert old["result"]["content"] == "hello"
    assert (old["tool_name"], old["tool_params"]) == ("read_file", {"path": "README.md"})
    assert again["tool_id"] == old["tool_id"]
    assert "tool_read_file" not in listed.stdout
    rig.assert_told_once_and_provable(calls=1)
