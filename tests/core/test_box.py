from handrail.core.box import Profile, widest

READ, WRITE, NET = Profile.READ, Profile.WRITE, Profile.NET


def test_the_widest_box_has_room_for_all() -> None:
    assert widest([READ, NET, WRITE]) is NET
    assert widest([WRITE, READ]) is WRITE
    assert widest([READ]) is READ


def test_who_needs_nothing_gets_the_narrowest_box() -> None:
    assert widest([]) is READ
