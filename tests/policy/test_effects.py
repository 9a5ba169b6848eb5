"""The risk of a rehearsed command is that of its effects, in plain reasons."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from handrail.core.effects import Effect, Effects, GitEffects, GitNote, GitWeight, Node
from handrail.core.files import EntryKind
from handrail.core.grant import CallClass
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.rehearsal import Rehearsed
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.policy.effects import (
    GRANTED_CHANGES,
    LOCAL_GIT,
    Concern,
    class_of_effects,
    concern_of,
    judge_effects,
)
from handrail.policy.rulebook.book import project_rules
from handrail.policy.rulebook.rules import default_rules

RULES = default_rules()
FOLDER = Node(EntryKind.DIRECTORY, mode=0o755)


def file(content: str = "a", mode: int = 0o644) -> Node:
    return Node(EntryKind.FILE, mode=mode, size=len(content), sha256=content)


def link(path: str, target: str) -> Effect:
    return Effect(path, None, Node(EntryKind.LINK, sha256=target, target=target))


def added(path: str, mode: int = 0o644) -> Effect:
    return Effect(path, None, file(path, mode))


def changed(path: str) -> Effect:
    return Effect(path, file("a"), file("b"))


def deleted(path: str) -> Effect:
    return Effect(path, file(path), None)


COMMIT = GitNote(GitWeight.CHANGE, "new commit")
INDEX = (changed(".git/index"),)
A_FILE = frozenset({"a"})


def git(*notes: GitNote) -> GitEffects:
    return GitEffects(notes, INDEX)


def judge(*changes: Effect) -> list[Finding]:
    return judge_effects(Effects(changes), RULES)


def risk_of(*changes: Effect) -> RiskLevel:
    return worst(judge(*changes))


def test_no_effect_is_no_concern() -> None:
    assert judge() == []


@pytest.mark.parametrize("change", [added("a.py"), changed("README.md"), Effect("d", None, FOLDER)])
def test_text_and_source_are_medium(change: Effect) -> None:
    assert risk_of(change) is RiskLevel.MEDIUM


@pytest.mark.parametrize(
    "path", ["package.json", "Makefile", "conftest.py", ".github/workflows/ci.yml", "run.sh", "a"]
)
def test_a_kind_of_file_that_is_high_to_write_is_high_here(path: str) -> None:
    assert risk_of(changed(path)) is RiskLevel.HIGH
    assert risk_of(added(path)) is RiskLevel.HIGH


@pytest.mark.parametrize("path", ["lib/x.so", "data/mapped.bin", "a.exe"])
def test_a_program_or_library_that_a_command_has_built_is_high(path: str) -> None:
    assert worst(RULES.judge_write(path)) is RiskLevel.FORBIDDEN
    assert risk_of(added(path)) is risk_of(changed(path)) is RiskLevel.HIGH


def test_a_small_text_of_an_unknown_kind_is_medium_unless_it_can_be_run() -> None:
    text = replace(file(), is_text=True)
    assert risk_of(Effect("notes", None, text)) is RiskLevel.MEDIUM
    assert risk_of(Effect("notes", None, file())) is RiskLevel.HIGH
    assert risk_of(Effect("notes", file("b", 0o755), replace(text, mode=0o755))) is RiskLevel.HIGH


def test_what_a_project_forbids_to_write_is_not_built_either() -> None:
    row = (
        '[[write]]\nname = "own"\nrisk = "forbidden"\nreason = "no"\npatterns = ["*.so"]\n'
        'match = ["a.so"]\nnot_match = ["a.py"]\n'
    )
    rules = RULES.tightened_by(project_rules(row))
    assert worst(judge_effects(Effects((added("x.so"),)), rules)) is RiskLevel.FORBIDDEN


def test_what_becomes_executable_is_high() -> None:
    found = judge(added("a.py", 0o755), Effect("b.py", file(), file(mode=0o755)))
    assert [(one.risk, one.reason) for one in found] == [
        (RiskLevel.HIGH, "makes 'a.py', 'b.py' executable"),
        (RiskLevel.MEDIUM, "changes 2 files"),
    ]


def test_a_mode_without_that_is_medium_whatever_the_kind_of_file() -> None:
    assert risk_of(Effect("Makefile", file(), file(mode=0o600))) is RiskLevel.MEDIUM


def test_deletions_are_high_and_named() -> None:
    found = judge(*map(deleted, ("a.py", "b.py", "c.py", "d.py")))
    assert found[0].risk is RiskLevel.HIGH
    assert found[0].reason == "deletes 4 files: 'a.py', 'b.py', 'c.py' and 1 more"
    assert risk_of(Effect("d", FOLDER, None)) is RiskLevel.HIGH


def test_a_renamed_file_is_judged_by_its_new_name_and_is_not_deleted() -> None:
    old, node = Effect("a.py", file("x"), None), file("x")
    assert risk_of(old, Effect("b.py", None, node)) is RiskLevel.MEDIUM
    assert risk_of(old, Effect("b.sh", None, node)) is RiskLevel.HIGH


def test_what_runs_by_itself_is_not_moved_away_unseen() -> None:
    found = judge(Effect("conftest.py", file("x"), None), Effect("b.py", None, file("x")))
    assert found[0].risk is RiskLevel.HIGH
    assert found[0].reason.startswith("moves away 'conftest.py'")
    assert found[-1].reason == "changes 1 file"


def test_more_than_a_hundred_files_deleted_or_overwritten_are_critical() -> None:
    half = [deleted(f"{n}.py") for n in range(50)]
    assert risk_of(*half, *(changed(f"x{n}.py") for n in range(50))) is RiskLevel.HIGH
    found = judge(*half, *(changed(f"x{n}.py") for n in range(51)))
    assert found[0].risk is RiskLevel.CRITICAL
    assert found[0].reason == "deletes 50 and overwrites 51 files, more than 100"
    assert risk_of(*(added(f"{n}.py") for n in range(200))) is RiskLevel.MEDIUM


def test_a_folder_of_many_files_that_is_renamed_is_not_critical() -> None:
    moved = [
        change
        for n in range(150)
        for change in (
            Effect(f"old/{n}.py", file(f"{n}"), None),
            Effect(f"new/{n}.py", None, file(f"{n}")),
        )
    ]
    assert risk_of(*moved) is RiskLevel.MEDIUM


@pytest.mark.parametrize("target", ["b.py", "../b.py", "./c/d.py", "../../top.py"])
def test_a_link_within_the_workspace_is_high(target: str) -> None:
    assert risk_of(link("x/y/a.py", target)) is RiskLevel.HIGH


@pytest.mark.parametrize(
    "target",
    [
        *("/etc/passwd", "/", "..", "../..", "../../../x", "b/../../../../x", "b/../c"),
        *("../../../ws/x", "/usr/bin/", "/usr/bin/..", "/usr/bin/../lib/x", "/usr/bin/x/y"),
        *("/usr/lib/x", "/bin"),
    ],
)
def test_a_link_that_leads_out_or_cannot_be_followed_is_refused(target: str) -> None:
    change = link("x/a.py", target) if target != ".." else link("a.py", target)
    assert risk_of(change) is RiskLevel.FORBIDDEN
    assert concern_of(change, RULES) is Concern.REFUSED


@pytest.mark.parametrize("target", ["/usr/bin/python3", "/usr/local/bin/node", "/bin/sh"])
def test_a_link_to_a_program_of_the_system_is_high(target: str) -> None:
    (found, *_) = judge(change := link(".venv/bin/python", target))
    assert found.reason == (
        f"'.venv/bin/python' becomes a link to {target!r}, a program of the system"
    )
    assert found.risk is RiskLevel.HIGH
    assert concern_of(change, RULES) is not Concern.REFUSED


@pytest.mark.parametrize("target", [".env", ".git/hooks/pre-commit", ".handrail/policy.toml"])
def test_a_link_to_a_guarded_file_is_refused(target: str) -> None:
    assert risk_of(link("a.txt", target)) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize("path", [".env", "d/id_rsa", ".handrail/policy.toml", "x/.netrc"])
@pytest.mark.parametrize("make", [added, changed, deleted])
def test_guarded_names_are_refused(path: str, make: Callable[[str], Effect]) -> None:
    assert risk_of(make(path)) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    ("weight", "rule", "risk"),
    [
        (GitWeight.REFUSED, "effects.git-refused", RiskLevel.FORBIDDEN),
        (GitWeight.LOSS, "effects.git-lost", RiskLevel.HIGH),
        (GitWeight.SETTING, "effects.git-settings", RiskLevel.MEDIUM),
        (GitWeight.CHANGE, "effects.git", RiskLevel.MEDIUM),
    ],
)
def test_what_git_would_do_is_judged_by_its_weight(
    weight: GitWeight, rule: str, risk: RiskLevel
) -> None:
    (found,) = judge_effects(Effects(git=git(GitNote(weight, "moves v1"))), RULES)
    assert (found.rule, found.risk, found.reason) == (rule, risk, "moves v1")


def test_many_notes_about_git_are_one_finding() -> None:
    notes = [GitNote(GitWeight.LOSS, f"deletes {n}") for n in range(5)]
    (found,) = judge_effects(Effects(git=git(*notes)), RULES)
    assert found.reason == "deletes 0; deletes 1; deletes 2; and 2 more"


def test_a_name_that_looks_like_git_is_refused() -> None:
    assert risk_of(changed(".GIT/hooks/a")) is RiskLevel.FORBIDDEN


def test_files_that_become_as_git_has_them_are_not_lost() -> None:
    paths = [f"src/{n}.py" for n in range(200)]
    effects = Effects(tuple(map(deleted, paths)), git=replace(git(COMMIT), as_git=frozenset(paths)))
    assert worst(judge_effects(effects, RULES)) is RiskLevel.MEDIUM


def test_a_new_content_is_judged_though_git_has_it() -> None:
    """Only what git had before the command is nothing new."""
    effects = Effects((added("run.sh", 0o755),))
    as_git = replace(git(COMMIT), as_git=frozenset({"run.sh"}))
    known = replace(as_git, known=frozenset({"run.sh"}))
    assert worst(judge_effects(replace(effects, git=as_git), RULES)) is RiskLevel.HIGH
    assert worst(judge_effects(replace(effects, git=known), RULES)) is RiskLevel.MEDIUM


def test_a_guarded_name_is_refused_though_git_had_it_before() -> None:
    known = replace(git(COMMIT), as_git=frozenset({".env"}), known=frozenset({".env"}))
    assert worst(judge_effects(Effects((added(".env"),), git=known), RULES)) is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        (Effects((added("a"),), git=GitEffects((COMMIT,), INDEX, A_FILE, A_FILE)), LOCAL_GIT),
        # Written and committed by the same command: the content is new.
        (Effects((added("a"),), git=GitEffects((COMMIT,), INDEX, A_FILE)), None),
        (Effects(git=GitEffects((COMMIT,), INDEX)), LOCAL_GIT),
        (Effects((added("src/a"),), git=GitEffects((COMMIT,), INDEX)), None),
        (Effects(git=GitEffects((COMMIT, GitNote(GitWeight.SETTING, "x")), INDEX)), None),
        (Effects(git=GitEffects((GitNote(GitWeight.LOSS, "x"),), INDEX)), None),
    ],
)
def test_local_git_is_a_class_without_losses_settings_or_other_files(
    effects: Effects, expected: CallClass | None
) -> None:
    outcome = CommandOutcome(b"", b"", Ending.EXITED, 0, 0.1)
    assert class_of_effects(Rehearsed(outcome, effects).facts) == expected


def test_what_can_never_be_applied_is_refused_with_its_reason() -> None:
    (found,) = judge_effects(Effects(refusals=("'x' is a socket",)), RULES)
    assert (found.risk, found.reason) == (RiskLevel.FORBIDDEN, "'x' is a socket")


def test_many_files_of_one_kind_are_one_reason() -> None:
    found = judge(*(added(f"{n}.sh") for n in range(20)))
    assert [one.rule for one in found] == ["write.script", "effects.changes"]
    assert found[0].reason.endswith("(and 19 more of this kind)")


def test_what_matters_most_is_shown_first() -> None:
    changes = [
        changed(".git/config"),
        changed("Makefile"),
        added("run.py", 0o755),
        link("l.py", "a.py"),
        deleted("d.py"),
        added("unknown"),
        changed("a.py"),
    ]
    concerns = [concern_of(change, RULES) for change in changes]
    assert concerns == sorted(concerns)
    assert set(concerns) == set(Concern)


def class_of(*paths: str) -> CallClass | None:
    outcome = CommandOutcome(b"", b"", Ending.EXITED, 0, 0.1)
    return class_of_effects(Rehearsed(outcome, Effects(tuple(map(changed, paths)))).facts)


def test_changes_within_one_folder_have_a_class_that_names_it() -> None:
    found = class_of("src/a.py", "src/deep/b.py")

    assert found is not None
    assert found.key == "effects:src/"
    assert "in src/ only, at most 50, and delete none" in found.words
    assert found == class_of("src/other.py")


@pytest.mark.parametrize("paths", [["a.py"], ["src/a.py", "docs/b.md"], ["src/a.py", "b.md"]])
def test_changes_in_several_places_have_no_class(paths: list[str]) -> None:
    assert class_of(*paths) is None


def test_a_class_covers_only_so_many_changes() -> None:
    paths = [f"src/{number}.py" for number in range(GRANTED_CHANGES + 1)]

    assert class_of(*paths[1:]) is not None
    assert class_of(*paths) is None


def test_a_command_without_a_rehearsal_has_no_class_of_effects() -> None:
    assert class_of_effects({}) is None
