"""Files that usually hold credentials are refused to every tool and hidden in every box."""

from pathlib import Path

import pytest

from handrail.core.risk import RiskLevel
from handrail.core.verdict import Ruling
from handrail.executors.guarded.names import GuardedNames
from handrail.tools.catalogue import judge

# Names that public lists of secret scanners have (gitleaks, GitHub's secret scanning).
NAMES = [
    *(".dev.vars", ".dev.vars.production", "prod.tfvars", "prod.auto.tfvars.json"),
    *("credentials.tfrc.json", "auth.json", ".codex/auth.json", ".config/containers/auth.json"),
    *(".claude.json", "application_default_credentials.json", "client_secret.json"),
    *("client_secret_123.apps.json", "shop-firebase-adminsdk-x1.json", "serviceAccountKey.json"),
    *("gha-creds-0a1b.json", "token.json", "kaggle.json", "AuthKey_ABC.p8", "office.ovpn"),
    *("wg0.conf", "etc/wg12.conf", ".vault_pass", ".vault_pass.txt", "kubeconfig.yaml"),
    *("kubeconfig.yml", "staging.kubeconfig", "secring.gpg", "deploy_key", "wp-config.php"),
    *(".gradle/gradle.properties", ".databrickscfg", ".Renviron", ".bash_history", ".zsh_history"),
    *(".python_history", ".psql_history", ".node_repl_history"),
]
# Templates, which people share, and names that only look alike.
HARMLESS = [
    *(".dev.vars.example", "prod.tfvars.example", "prod.example.tfvars", "example.tfvars"),
    *("auth.json.dist", "token.example.json", "client_secret.sample.json", ".vault_pass.template"),
    *("wp-config-sample.php", "deploy_key.pub", "auth.ts", "authors.json", "tokens.json"),
    *("tokenizer.json", "token.py", "kaggle.py", "history.md", "bash_history.md", "wg.conf"),
    *(
        "kubeconfig.md",
        "gradle.properties",
        "gradle.build",
        "properties.gradle",
        "variables.tf",
        "p8.py",
    ),
]
ROOT = "/home/ada/project"


@pytest.mark.parametrize("name", NAMES)
def test_no_tool_and_no_command_reads_one(name: str) -> None:
    for tool, words in (
        ("read_file", {"path": f"app/{name}"}),
        ("read_file", {"path": name.upper()}),
        ("write_file", {"path": name, "content": "x"}),
        ("run_bash", {"command": f"cat {name}"}),
        ("execute_command", {"command": "cat", "args": [name]}),
    ):
        verdict = judge(tool, words, workspace=ROOT, isolated=True)
        assert (verdict.risk, verdict.ruling) == (RiskLevel.FORBIDDEN, Ruling.DENY), tool


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_like_one_is_read_unasked(name: str) -> None:
    for tool, words in (
        ("read_file", {"path": f"app/{name}"}),
        ("run_bash", {"command": f"cat {name}"}),
    ):
        verdict = judge(tool, words, workspace=ROOT, isolated=True)
        assert (verdict.risk, verdict.ruling) == (RiskLevel.LOW, Ruling.ALLOW), tool


def test_a_box_hides_each_of_them_and_nothing_that_looks_alike(
    root: Path, guarded: GuardedNames
) -> None:
    for name in (*NAMES, *HARMLESS):
        path = root / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")

    assert set(guarded.view().hidden_files) == {str(root / "app" / n) for n in NAMES}
