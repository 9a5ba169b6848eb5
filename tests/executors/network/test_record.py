from handrail.executors.network.record import (
    MOST_NAMES,
    OTHERS,
    Contact,
    ProxyRecord,
    Refused,
)


def test_what_is_said_to_a_host_is_counted_over_all_its_connections() -> None:
    record = ProxyRecord()
    for sent, received in ((1, 10), (2, 20)):
        meter = record.meter("a.org:443")
        meter.sent_bytes += sent
        meter.received_bytes += received
    record.meter("b.org:80")
    assert record.traffic.contacted == (
        Contact("a.org:443", 2, 3, 30),
        Contact("b.org:80", 1, 0, 0),
    )


def test_the_same_refusal_is_told_once_with_its_count() -> None:
    record = ProxyRecord()
    for host in ("a.org:443", "b.org:443", "a.org:443"):
        record.refuse(host, "not approved")
    assert record.traffic.refused == (
        Refused("a.org:443", "not approved", 2),
        Refused("b.org:443", "not approved", 1),
    )


def test_names_without_end_are_counted_together() -> None:
    record = ProxyRecord()
    for number in range(MOST_NAMES + 3):
        record.refuse(f"n{number}.org:443", "not approved")
        record.meter(f"n{number}.org:443").sent_bytes += 1
    assert len(record.traffic.refused) == len(record.traffic.contacted) == MOST_NAMES + 1
    assert record.traffic.refused[-1] == Refused(
        OTHERS, "too many were refused to list them all", 3
    )
    assert record.traffic.contacted[-1] == Contact(OTHERS, 3, 3, 0)
