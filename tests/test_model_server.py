"""The scripted model server is what it stands for, as far as the real SDKs can tell."""

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from handrail.agent.providers.script import read_script
from tests.model_server.server import serving

SCRIPT = 'steps = [{ text = "a" }, { text = "b" }]'


def anthropic_at(url: str) -> Any:
    # Loaded here, since it takes seconds that would be paid wherever tests are collected.
    return import_module("anthropic").Anthropic(api_key="k-1", base_url=url, max_retries=0)


def test_it_counts_tokens_lists_its_model_and_is_there() -> None:
    with serving(read_script(SCRIPT)) as server, anthropic_at(server.url) as client:
        asked: list[Any] = [{"role": "user", "content": "How long is this?"}]
        counted = client.messages.count_tokens(model="scripted", messages=asked)
        models = [model.id for model in client.models.list()]
        there = client._client.head(server.url)

    assert counted.input_tokens > 10
    assert models == ["scripted"]
    assert there.status_code == 200


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "at least one message"),
        ([{"role": "assistant", "content": "a"}], "first message must use the user role"),
        ([{"role": "user", "content": " "}], "non-whitespace"),
        ([{"role": "user", "content": []}], "must not be empty"),
        (
            [
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "t", "name": "git", "input": {}}],
                },
                {"role": "user", "content": "b"},
            ],
            "tool_result for",
        ),
        (
            [{"role": "user", "content": "a"}, *[{"role": "assistant", "content": "b"}] * 2],
            "step 3",
        ),
    ],
)
def test_it_refuses_what_the_real_one_refuses(messages: list[Any], complaint: str) -> None:
    refusal = import_module("anthropic").BadRequestError
    with (
        serving(read_script(SCRIPT)) as server,
        anthropic_at(server.url) as client,
        pytest.raises(refusal, match=complaint),
    ):
        client.messages.create(model="scripted", max_tokens=1, messages=messages)


def test_it_runs_as_a_process_and_writes_down_what_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(SCRIPT)
    command = [sys.executable, "-m", "tests.model_server", str(tmp_path / "script.toml")]
    record = tmp_path / "record.jsonl"
    root = Path(__file__).parents[1]
    with subprocess.Popen(
        [*command, "--key", "k-1", "--record", str(record)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with anthropic_at(url) as client:
            asked: list[Any] = [{"role": "user", "content": "Go."}]
            for _ in range(2):
                client.messages.create(model="scripted", max_tokens=1, messages=asked)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0

    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(line["path"], line["step"], line["attempt"]) for line in lines] == [
        ("/v1/messages", 0, 0),
        ("/v1/messages", 0, 1),
    ]
    assert lines[0]["body"]["messages"] == [{"role": "user", "content": "Go."}]


def test_a_script_that_is_none_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.model_server", str(tmp_path / "none.toml")]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=50, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 1
    assert done.stderr.startswith("model_server: cannot read the script")
