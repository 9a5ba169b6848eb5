"""A person asks for a task; the agent reads, searches, changes with approval, checks, answers."""

import pytest

from handrail.agent.providers.script import Script, read_script
from handrail.core.card import Choice
from tests.journeys.conftest import Rig
from tests.journeys.talking import KEY, Talk, put
from tests.model_server.server import serving

YES = Choice(approved=True)
BUG = "def add(a, b):\n    return a - b\n"
FIX = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\nassert add(2, 3) == 5, add(2, 3)\nprint('all is well')\n"

LOOK = """
[[steps]]
text = "I look at what there is."
tools = [
    { name = "list_directory", input = { path = "." } },
    { name = "search_code", input = { pattern = "def add" } },
]
[[steps]]
tools = [{ name = "read_file", input = { path = "calc.py" } }]
"""
WRITE = """
[[steps]]
text = "It subtracts. I mend it."
[[steps.tools]]
name = "write_file"
input = { path = "calc.py", content = "def add(a, b):\\n    return a + b\\n" }
"""
CHECK = """
[[steps]]
text = "I run the test."
tools = [{ name = "execute_command", input = { command = "python3", args = ["check.py"] } }]
"""
DONE = """
[[steps]]
text = "add subtracted; now it adds, and the test passes."
"""


def played(*pieces: str) -> Script:
    return read_script("\n".join(pieces))


@pytest.fixture
def workshop(rig: Rig) -> Rig:
    put(rig.workspace, calc__py=BUG, check__py=TEST)
    return rig


@pytest.mark.slow
@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("agent.mends")
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_the_agent_finds_the_fault_mends_it_and_proves_it(
    workshop: Rig, provider: str
) -> None:
    with serving(played(LOOK, WRITE, CHECK, DONE), key=KEY) as model:
        talk = Talk(workshop, model, provider)
        workshop.start_server()
        workshop.start_client()
        await talk.say("find the failing test and fix it")
        write = await workshop.answer(YES)
        run = await talk.end()

    assert (run["status"], run["error"]) == ("done", None)
    assert await talk.answer() == "add subtracted; now it adds, and the test passes."
    assert (workshop.workspace / "calc.py").read_text() == FIX
    assert (write.tool_name, write.reasoning) == ("write_file", "It subtracts. I mend it.")
    assert "+    return a + b" in write.evidence
    # The tests change nothing, so they ran without a question.
    assert workshop.rows("SELECT count(*) FROM tool_approvals") == [(1,)]
    told = await talk.told()
    assert [is_error for is_error, _ in told] == [False] * 5
    assert "calc.py" in told[0][1]
    assert "return a - b" in told[2][1]
    assert "all is well" in told[4][1]
    assert all(words.startswith("[untrusted ") for _, words in told)
    assert talk.steps_asked() == [0, 1, 2, 3, 4]
    workshop.assert_told_once_and_provable(calls=5)


@pytest.mark.behaviour("agent.hears-no")
async def test_a_refusal_changes_the_plan(workshop: Rig) -> None:
    other = WRITE.replace('path = "calc.py"', 'path = "calc2.py"').replace("mend it", "leave it")
    with serving(played(WRITE, other, DONE), key=KEY) as model:
        talk = Talk(workshop, model)
        workshop.start_server()
        workshop.start_client()
        await talk.say("fix add")
        await workshop.answer(Choice(approved=False, reason="write a second file"))
        second = await workshop.answer(YES)
        run = await talk.end()

    (refused, words), (failed, _) = await talk.told()
    assert refused
    assert "refused this call: write a second file" in words
    assert not failed
    assert second.tool_params["path"] == "calc2.py"
    assert run["status"] == "done"
    assert (workshop.workspace / "calc.py").read_text() == BUG
    assert (workshop.workspace / "calc2.py").read_text() == FIX


@pytest.mark.behaviour("agent.hears-nothing")
async def test_a_question_that_nobody_answers_is_told_as_that(workshop: Rig) -> None:
    workshop.environment["APPROVAL_TIMEOUT_SECONDS"] = "1"
    with serving(played(WRITE, DONE), key=KEY) as model:
        talk = Talk(workshop, model)
        workshop.start_server()
        workshop.start_client()
        await talk.say("fix add")
        run = await talk.end()

    ((is_error, words),) = await talk.told()
    assert is_error
    assert words.startswith("not run: Approval timeout")
    assert run["status"] == "done"
    assert (workshop.workspace / "calc.py").read_text() == BUG


@pytest.mark.behaviour("provider.choice")
async def test_without_a_key_the_person_is_told_what_to_do(rig: Rig) -> None:
    rig.start_server()
    with pytest.raises(Exception, match=r"there is no model to answer: .*handrail init"):
        await rig.as_person(lambda api: api.post("/chat/messages", {"text": "hello"}))


@pytest.mark.behaviour("agent.waits-for-the-model")
async def test_a_model_that_has_trouble_is_asked_again(workshop: Rig) -> None:
    troubled = '[[steps]]\ntext = "Here I am."\nfailures = [{ status = 529 }, { drop = true }]\n'
    with serving(played(troubled), key=KEY) as model:
        talk = Talk(workshop, model)
        workshop.start_server()
        await talk.say("hello")
        run = await talk.end()

    assert run["status"] == "done"
    assert talk.steps_asked() == [0, 0, 0]
    assert await talk.answer() == "Here I am."
