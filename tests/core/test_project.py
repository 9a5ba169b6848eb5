"""How much an agent may do without asking, in words."""

import pytest

from handrail.core.project import Autonomy


@pytest.mark.parametrize("autonomy", Autonomy)
def test_every_autonomy_says_what_it_means(autonomy: Autonomy) -> None:
    assert autonomy.meaning.startswith("Agents ")
    assert autonomy.meaning.endswith(".")
