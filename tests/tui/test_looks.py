"""How the screen looks: what is drawn is what somebody has looked at before."""

import pytest

from scripts.draw_pictures import LOOK_BY_NAME, LOOKS, draw_screen


@pytest.mark.parametrize("name", LOOK_BY_NAME)
async def test_the_screen_looks_as_it_did(name: str) -> None:
    size, light = LOOK_BY_NAME[name]

    drawn = await draw_screen(size, light=light)

    assert (LOOKS / name).read_text(encoding="utf-8") == drawn, "`make pictures` draws it anew"


def test_every_look_is_drawn_by_the_code() -> None:
    assert {path.name for path in LOOKS.iterdir()} == set(LOOK_BY_NAME)
