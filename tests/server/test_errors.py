"""Whatever goes wrong is told in one form, with a type a program can rely on."""

import inspect
from io import BytesIO

import pytest
from starlette.requests import Request
from structlog.testing import capture_logs

from handrail.core import errors
from handrail.core.access import Role
from handrail.server.errors import on_handrail_error
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.server.conftest import Caller, a_body, a_result, ask_to_read, base, report

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.BadInput, 400),
        (errors.TooLarge, 413),
        (errors.UnsupportedType, 415),
        (errors.Unauthenticated, 401),
        (errors.Forbidden, 403),
        (errors.NotFound, 404),
        (errors.Conflict, 409),
        (errors.ConflictingCall, 409),
        (errors.ChangeRefused, 409),
        (errors.IllegalTransition, 409),
        (errors.LinkUsed, 409),
        (errors.SetupError, 500),
        (errors.RuleError, 500),
        (errors.StoreTooNew, 500),
        (errors.ToolError, 500),
        (errors.PathValidationError, 500),
        (errors.OfferedAnew, 409),
        (errors.BudgetExhausted, 409),
        (errors.FileOperationError, 500),
        (errors.StaleFileError, 500),
        (errors.FolderError, 500),
        (errors.StaleMemoryError, 500),
        (errors.CommandExecutionError, 500),
        (errors.StaleCommandError, 500),
        (errors.WebError, 500),
        (errors.DraftDamaged, 500),
        (errors.NotJudged, 500),
        (errors.ApprovalDeniedError, 500),
        (errors.BrokenTool, 500),
        (errors.BrokenRecord, 500),
        (errors.StoreUnavailable, 503),
        (errors.StoreFull, 507),
        (errors.StoreLocked, 503),
        (errors.StoreDamaged, 503),
        (errors.StoreReplaced, 503),
        (errors.HandrailError, 500),
    ],
)
async def test_every_error_has_its_status(kind: type[errors.HandrailError], status: int) -> None:
    request = Request({"type": "http", "path": "/", "headers": [], "query_string": b""})
    with capture_logs():
        answer = await on_handrail_error(request, kind("words"))
    assert answer.status_code == status


def test_no_error_was_forgotten() -> None:
    known = {
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.HandrailError)
    }
    (table,) = test_every_error_has_its_status.pytestmark  # pyright: ignore[reportFunctionMemberAccess]

    assert {kind for kind, _ in table.args[1]} == known


async def test_every_problem_is_told_in_the_same_form(caller: Caller, household: Household) -> None:
    here, secrets = base(household), household.secrets
    agent, client = secrets[Role.AGENT], secrets[Role.CLIENT]
    tool_id = await ask_to_read(caller, household)
    answers = {
        "unreadable": await caller.ask(
            "POST", f"{here}/tools/execute", agent, data="{", headers=JSON
        ),
        "not JSON": await caller.ask(
            "POST",
            f"{here}/tools/execute",
            agent,
            data="{}",
            headers={"content-type": "text/plain"},
        ),
        "no token": await caller.ask("GET", f"{here}/tools/available"),
        "wrong role": await caller.ask("GET", f"{here}/audit", agent),
        "no such project": await caller.ask("GET", "/my/projects/none/audit", agent),
        "no such page": await caller.ask("GET", "/none"),
        "no such method": await caller.ask("DELETE", "/health"),
        "other words": await caller.ask(
            "POST", f"{here}/tools/execute", agent, json=a_body(path="other")
        ),
        "not handed out": await report(caller, household, tool_id),
        "too much": await caller.ask(
            "POST", f"{here}/tools/{tool_id}/result", client, data=BytesIO(b" " * 32_000_001)
        ),
    }

    assert {name: answer.problem for name, answer in answers.items()} == {
        "unreadable": (400, "urn:handrail:bad-input"),
        "no token": (401, "urn:handrail:unauthenticated"),
        "wrong role": (403, "urn:handrail:forbidden"),
        "no such project": (404, "urn:handrail:not-found"),
        "no such page": (404, "urn:handrail:not-found"),
        "no such method": (405, "urn:handrail:method-not-allowed"),
        "other words": (409, "urn:handrail:conflicting-call"),
        "not handed out": (409, "urn:handrail:conflict"),
        "not JSON": (415, "urn:handrail:unsupported-type"),
        "too much": (413, "urn:handrail:too-large"),
    }
    assert answers["no token"].headers["www-authenticate"] == "Bearer"


async def test_a_defect_of_ours_is_told_without_its_story(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    store._writer.run("ALTER TABLE clients RENAME TO hidden")
    path, token = f"{base(household)}/clients", household.secrets[Role.USER]

    with capture_logs() as lines:
        # On the framework's side and on ours.
        broken = await caller.ask("GET", path, token)
        store._writer.run("ALTER TABLE sessions RENAME TO hidden_too")
        direct = await caller.ask("POST", f"{base(household)}/tools/execute", token, json=a_body())
        # Nothing of what was broken is needed here.
        alive = await caller.ask("GET", "/health")

    assert broken.problem == direct.problem == (500, "urn:handrail:internal")
    assert broken.body["detail"] == "The server failed; its log has the details"
    assert direct.body == broken.body
    assert alive.status == 200
    assert {"event": "request.failed", "log_level": "error", "path": path}.items() <= lines[
        0
    ].items()
    assert "no such table: clients" in str(lines[0]["exc_info"])


async def test_what_cannot_be_read_names_the_field(caller: Caller, household: Household) -> None:
    here, token = base(household), household.secrets[Role.USER]
    told = [
        await caller.ask("GET", f"{here}/tools/executions?limit=0", token),
        await caller.ask("GET", f"{here}/tools/executions?status=lost", token),
        await caller.ask("GET", f"{here}/audit?after=-1", token),
        await caller.ask("POST", f"{here}/tools/execute", token, json=a_body(wait="soon")),
        await report(caller, household, "exe_1", a_result(epoch="first")),
    ]

    assert [answer.status for answer in told] == [400] * 5
    assert [answer.body["detail"].partition(":")[0] for answer in told] == [
        "query.limit",
        "query.status",
        "query.after",
        "wait",
        "epoch",
    ]
