"""What is said of the rules over HTTP."""

import json

import pytest

from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Explained, Ruling, Verdict
from handrail.wire.policy import ExplainResponse


@pytest.mark.parametrize(
    ("ruling", "word", "may_ask"),
    [
        (Ruling.ALLOW, "allow", False),
        (Ruling.REHEARSE, "rehearse", True),
        (Ruling.ASK, "ask", True),
        (Ruling.DENY, "deny", False),
    ],
)
def test_a_ruling_travels_as_its_word_and_is_read_back(
    ruling: Ruling, word: str, may_ask: bool
) -> None:
    explained = Explained("run_bash", Verdict(ruling, RiskLevel.MEDIUM), "Run make", None)

    sent = ExplainResponse.of(explained, Autonomy.SUPERVISED, 300).model_dump_json()

    said = json.loads(sent)
    assert (said["ruling"], said["requires_approval"]) == (word, may_ask)
    assert ExplainResponse.model_validate_json(sent).ruling is ruling
