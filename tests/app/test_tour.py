from pathlib import Path

import pytest

from handrail import judge
from handrail.app.tour import chapters
from handrail.core.verdict import Ruling

THE_FOUR = [Ruling.ALLOW, Ruling.ASK, Ruling.ASK, Ruling.DENY]


@pytest.mark.parametrize("npm", ["/usr/bin/npm", None])
def test_the_tour_shows_each_ruling_with_what_this_machine_has(
    npm: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_args, **_kwargs: npm)

    told = chapters(tmp_path)

    assert [
        judge(one.tool_name, one.tool_params, workspace=str(tmp_path)).ruling for one in told
    ] == [*THE_FOUR[:2], Ruling.ASK if npm else Ruling.REHEARSE, THE_FOUR[3]]
    assert (told[2].tool_params["command"] == "npm") is (npm is not None)
