import asyncio
import hashlib
import random
import socket
from collections.abc import Sequence
from contextlib import suppress

import pytest
import uvloop

from handrail.core.errors import CommandExecutionError
from handrail.core.traffic import Contact, Refused
from handrail.executors.network.proxy import Limits
from handrail.policy.network.hosts import Host
from tests.executors.network.proxying import (
    ANSWER,
    ENOUGH_SECONDS,
    NAME,
    proxying,
    resolving,
    sentence_of,
    serving,
)


async def test_an_approved_host_is_reached_through_a_tunnel() -> None:
    async with serving(answer=None) as server, proxying(server.place, local=[server.place]) as way:
        reader, writer = await way.tunnel(server.place)
        writer.write(b"\x16\x03\x01 anything at all")
        assert await reader.readexactly(19) == b"\x16\x03\x01 anything at all"
        writer.close()
        await server.ended.wait()
        assert server.heard == [b"\x16\x03\x01 anything at all"]
        assert way.proxy.traffic.contacted == (Contact(server.place, 1, 19, 19),)
        assert way.proxy.traffic.refused == ()


async def test_an_approved_host_is_asked_over_plain_http() -> None:
    async with serving() as server, proxying(server.place, local=[server.place]) as way:
        asked = f"GET http://{server.place}/left-pad HTTP/1.1\r\nHost: evil.org\r\nA: b\r\n\r\n"
        assert await way.say(asked) == ANSWER
        said = (
            f"GET /left-pad HTTP/1.1\r\nHost: {server.place}\r\nA: b\r\nConnection: close\r\n\r\n"
        )
        assert server.heard == [said.encode()]
        assert way.proxy.traffic.contacted == (Contact(server.place, 1, len(said), len(ANSWER)),)


async def test_a_host_is_reached_no_more_once_it_is_withdrawn() -> None:
    why: list[str] = [""]

    async def withdrawn(host: Host) -> str:
        return why[-1]

    async with (
        serving() as server,
        proxying(server.place, local=[server.place], withdrawn=withdrawn) as way,
    ):
        asked = f"GET http://{server.place}/ HTTP/1.1\r\n\r\n"
        assert await way.say(asked) == ANSWER
        why.append("it was taken off the list")
        assert sentence_of(await way.say(asked)) == (403, "Handrail: it was taken off the list")
        assert len(server.heard) == 1


@pytest.mark.parametrize("how", ["CONNECT {}:443", "GET http://{}/", "CONNECT {}:80"])
async def test_another_host_is_refused_in_a_sentence_and_never_looked_up(how: str) -> None:
    asked: list[str] = []
    resolve = resolving("93.184.216.34", asked=asked)
    async with proxying(NAME, "*.example.org", resolve=resolve) as way:
        answer = await way.say(f"{how.format('Evil.test')} HTTP/1.1\r\n\r\n")
        port = 443 if "443" in how else 80
        reason = (
            f"evil.test:{port} is not among the hosts that were approved "
            f"(registry.test, *.example.org)"
        )
        assert sentence_of(answer) == (403, f"Handrail: {reason}")
        assert way.proxy.traffic.refused == (Refused(f"evil.test:{port}", reason, 1),)
        assert (asked, way.proxy.traffic.contacted) == ([], ())


async def test_of_an_empty_list_nothing_is_approved() -> None:
    async with serving() as server, proxying(local=[server.place]) as way:
        for place in (server.place, f"127.0.0.1:{server.port}", "example.com:443"):
            status, sentence = sentence_of(await way.say(f"CONNECT {place} HTTP/1.1\r\n\r\n"))
            assert status == 403
            assert sentence.endswith("is not among the hosts that were approved (none)")
        assert server.heard == []


@pytest.mark.parametrize("port", [22, 25, 8080, 65535])
async def test_a_host_without_a_port_is_approved_for_the_web_only(port: int) -> None:
    async with proxying(NAME) as way:
        status, sentence = sentence_of(await way.say(f"CONNECT {NAME}:{port} HTTP/1.1\r\n\r\n"))
    assert status == 403
    assert sentence.endswith("a host without a port is approved for the ports 80 and 443")


async def test_a_long_list_is_named_in_part_and_counted() -> None:
    async with proxying(*(f"h{number}.test" for number in range(25))) as way:
        _, sentence = sentence_of(await way.say("CONNECT evil.test:443 HTTP/1.1\r\n\r\n"))
    assert sentence.endswith("h18.test, h19.test, and 5 more)")


@pytest.mark.parametrize("place", ["name", "address"])
async def test_a_private_address_is_not_called_unless_its_host_is_named_as_local(
    place: str,
) -> None:
    async with serving() as server:
        host = server.place if place == "name" else f"127.0.0.1:{server.port}"
        asked = f"GET http://{host}/ HTTP/1.1\r\n\r\n"
        # Named without its port, and with another one.
        elsewhere = [f"{host.partition(':')[0]}:{server.port % 65535 + 1}"]
        async with proxying(host, local=elsewhere) as way:
            reason = (
                f"{host} resolves to 127.0.0.1, on this machine or in a private network; "
                f"only a host that is listed as local, with its port, may do that"
            )
            assert sentence_of(await way.say(asked)) == (403, f"Handrail: {reason}")
            assert way.proxy.traffic.refused == (Refused(host, reason, 1),)
        assert server.heard == []
        async with proxying(host, local=[host]) as way:
            assert await way.say(asked) == ANSWER


@pytest.mark.parametrize(
    "addresses",
    [
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
        ["2606:4700::1111", "::ffff:127.0.0.1"],
        ["::1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["0.0.0.0"],
        ["fe80::1%lo"],
        ["not an address"],
    ],
    ids=" ".join,
)
async def test_one_address_that_is_not_public_spoils_them_all(addresses: Sequence[str]) -> None:
    async with serving() as server, proxying(server.place, resolve=resolving(*addresses)) as way:
        answer = await way.say(f"CONNECT {server.place} HTTP/1.1\r\n\r\n")
        assert sentence_of(answer)[0] == 403
        assert (server.heard, way.proxy.traffic.contacted) == ([], ())


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "0.0.0.0", "224.0.0.1"])
async def test_what_no_command_may_reach_is_not_reached_as_local_either(address: str) -> None:
    resolve = resolving("127.0.0.1", address)
    async with serving() as server:
        async with proxying(server.place, local=[server.place], resolve=resolve) as way:
            status, sentence = sentence_of(
                await way.say(f"CONNECT {server.place} HTTP/1.1\r\n\r\n")
            )
        assert server.heard == []
    assert (status, f"{address}, which no command may reach: such addresses" in sentence) == (
        403,
        True,
    )


async def test_a_name_is_looked_up_once_and_called_where_it_was_seen() -> None:
    answers = iter([["127.0.0.2"], ["127.0.0.1"]])
    asked: list[str] = []

    async def resolve(name: str, port: int) -> Sequence[str]:
        asked.append(name)
        return next(answers)

    async with serving(host="127.0.0.2") as server:
        # A trap waits at the same port of the address that would be seen next.
        with socket.create_server(("127.0.0.1", server.port)) as trap:
            trap.setblocking(False)
            async with proxying(server.place, local=[server.place], resolve=resolve) as way:
                assert await way.say(f"GET http://{server.place}/ HTTP/1.1\r\n\r\n") == ANSWER
            with pytest.raises(BlockingIOError):
                trap.accept()
    assert asked == [NAME]


async def test_the_next_address_is_called_when_the_first_does_not_answer() -> None:
    async with serving(host="127.0.0.2") as server:
        resolve = resolving("127.0.0.1", "127.0.0.2")
        async with proxying(server.place, local=[server.place], resolve=resolve) as way:
            assert await way.say(f"GET http://{server.place}/ HTTP/1.1\r\n\r\n") == ANSWER


async def test_a_name_that_is_not_known_is_said_to_be_unknown() -> None:
    async def resolve(name: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    for one in (resolve, resolving()):
        async with proxying(NAME, resolve=one) as way:
            answer = await way.say(f"CONNECT {NAME}:443 HTTP/1.1\r\n\r\n")
        assert sentence_of(answer) == (502, f"Handrail: {NAME}:443 could not be resolved")


async def test_a_name_that_takes_too_long_is_given_up() -> None:
    async def resolve(name: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with proxying(NAME, resolve=resolve, limits=Limits(connect_seconds=0.1)) as way:
        answer = await way.say(f"CONNECT {NAME}:443 HTTP/1.1\r\n\r\n")
    assert sentence_of(answer) == (504, f"Handrail: {NAME}:443 could not be resolved within 0.1 s")


async def test_a_host_that_does_not_listen_is_said_not_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"{NAME}:{taken.getsockname()[1]}"
    async with proxying(place, local=[place]) as way:
        answer = await way.say(f"CONNECT {place} HTTP/1.1\r\n\r\n")
        reason = f"{place} could not be reached: Connection refused"
        assert sentence_of(answer) == (502, f"Handrail: {reason}")
        assert (way.proxy.traffic.contacted, way.proxy.traffic.refused) == (
            (),
            (Refused(place, reason, 1),),
        )


@pytest.mark.parametrize(
    ("fields", "body", "forwarded"),
    [
        ("", b"", b""),
        ("Content-Length: 5\r\n", b"GET /", b"GET /"),
        ("Transfer-Encoding: chunked\r\n", b"5\r\nGET /\r\n0\r\n\r\n", b"5\r\nGET /\r\n0\r\n\r\n"),
        (
            "Transfer-Encoding: chunked\r\n",
            b"00A\r\n0123456789\r\n1\r\nx\r\n0\r\nTrailer: x\r\n\r\n",
            b"a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n",
        ),
    ],
    ids=["none", "counted", "chunked", "chunks-written-anew"],
)
async def test_a_second_request_behind_the_first_goes_nowhere(
    fields: str, body: bytes, forwarded: bytes
) -> None:
    async with serving() as server, proxying(server.place, local=[server.place]) as way:
        first = f"POST http://{server.place}/ HTTP/1.1\r\n{fields}\r\n".encode() + body
        second = b"GET http://evil.test/secret HTTP/1.1\r\nHost: evil.test\r\n\r\n"
        assert await way.say(first + second) == ANSWER
        await server.ended.wait()
        assert [bytes(heard).partition(b"\r\n\r\n")[2] for heard in server.heard] == [forwarded]


@pytest.mark.parametrize(
    "body",
    [
        b"5\nGET /\r\n0\r\n\r\n",
        b"5;name=value\r\nGET /\r\n0\r\n\r\n",
        b"5 \r\nGET /\r\n0\r\n\r\n",
        b"0x5\r\nGET /\r\n0\r\n\r\n",
        b"-5\r\nGET /\r\n0\r\n\r\n",
        b"\r\n0\r\n\r\n",
        b"5\r\nGET / and more\r\n0\r\n\r\n",
        b"5\r\nGET /\n\n0\r\n\r\n",
        b"FFFFFFFFF\r\nGET /\r\n0\r\n\r\n",
        b"0\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"0\r\n" + b"A" * 100_000 + b"\r\n\r\n",
    ],
)
async def test_a_body_in_strange_chunks_never_comes_to_its_end(body: bytes) -> None:
    async with serving(answer=None) as server, proxying(server.place, local=[server.place]) as way:
        asked = f"POST http://{server.place}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        await way.say(asked.encode() + body)
        await server.ended.wait()
        assert [heard.endswith(b"0\r\n\r\n") for heard in server.heard] == [False]


async def test_a_client_that_asks_for_leave_to_go_on_gets_it() -> None:
    async with serving() as server, proxying(server.place, local=[server.place]) as way:
        reader, writer = await way.connect()
        fields = "Expect: 100-continue\r\nContent-Length: 3\r\n"
        writer.write(f"PUT http://{server.place}/ HTTP/1.1\r\n{fields}\r\n".encode())
        async with asyncio.timeout(ENOUGH_SECONDS):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"abc")
            assert await reader.read() == ANSWER
        writer.close()


@pytest.mark.parametrize(
    "hello",
    [
        b"\x05\x01\x00",
        b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
        b"\x16\x03\x01\x02\x00\x01",
        b"\r\n",
    ],
    ids=["socks5", "socks4", "tls", "nothing"],
)
async def test_other_protocols_are_told_so_at_once(hello: bytes) -> None:
    async with proxying(NAME) as way:
        reason = "this is an HTTP proxy, and the request is not HTTP"
        assert sentence_of(await way.say(hello)) == (400, f"Handrail: {reason}")
        assert way.proxy.traffic.refused == (Refused("", reason, 1),)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"GET http://registry.te", 408),
        (b"GET http://registry.test/ HTTP/1.1\n\n", 408),
        (b"GET http://registry.test/ HTTP/1.1\r\nA: " + b"b" * 5000, 431),
        (b"GET http://registry.test/ HTTP/1.1\r\n" + b"A: b\r\n" * 1000 + b"\r\n", 431),
        (b"CONNECT 127.1:443 HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT a\0.registry.test:443 HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT registry.test HTTP/1.1\r\n\r\n", 400),
    ],
)
async def test_a_request_that_is_late_too_long_or_malformed_is_refused(
    said: bytes, status: int
) -> None:
    async with proxying(NAME, limits=Limits(head_bytes=2000, head_seconds=0.3)) as way:
        assert sentence_of(await way.say(said))[0] == status


async def test_who_sends_drop_by_drop_is_not_waited_for() -> None:
    async with proxying(NAME, limits=Limits(head_seconds=0.3)) as way:
        reader, writer = await way.connect()
        answer = asyncio.create_task(reader.read())
        writer.write(b"GET http://registry.test/ HTTP/1.1\r\n")
        async with asyncio.timeout(ENOUGH_SECONDS):
            while not answer.done():
                writer.write(b"A: b\r\n")
                await asyncio.sleep(0.02)
        assert sentence_of(await answer)[0] == 408
        writer.close()


async def test_a_refusal_is_heard_by_whoever_is_still_sending() -> None:
    async with proxying(NAME) as way:
        reader, writer = await way.connect()
        writer.write(b"POST http://evil.test/ HTTP/1.1\r\nContent-Length: 500000\r\n\r\n")
        while not way.proxy.traffic.refused:
            await asyncio.sleep(0.01)
        for _ in range(5):
            writer.write(b"x" * 100_000)
            await asyncio.sleep(0.02)
        async with asyncio.timeout(ENOUGH_SECONDS):
            assert sentence_of(await reader.read())[0] == 403
        writer.close()


async def test_a_server_that_has_answered_need_not_hear_the_rest() -> None:
    async with serving() as server, proxying(server.place, local=[server.place]) as way:
        reader, writer = await way.connect()
        asked = f"POST http://{server.place}/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"
        writer.write(asked.encode())
        async with asyncio.timeout(ENOUGH_SECONDS):
            assert await reader.read() == ANSWER
            await server.ended.wait()
        writer.close()


async def test_a_server_may_go_on_after_the_client_has_said_all() -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = len(await reader.read())
        writer.write(b"heard %d" % size)
        writer.close()

    async with await asyncio.start_server(count, "127.0.0.1") as made:
        place = f"{NAME}:{made.sockets[0].getsockname()[1]}"
        async with proxying(place, local=[place]) as way:
            reader, writer = await way.tunnel(place)
            writer.write(b"x" * 1000)
            writer.write_eof()
            async with asyncio.timeout(ENOUGH_SECONDS):
                assert await reader.read() == b"heard 1000"
            writer.close()


async def test_much_passes_whole_in_both_directions_and_is_counted() -> None:
    async with serving(answer=None) as server, proxying(server.place, local=[server.place]) as way:
        reader, writer = await way.tunnel(server.place)
        data = random.Random(3).randbytes(8_000_000)

        async def send() -> None:
            writer.write(data)
            await writer.drain()
            writer.write_eof()

        sending = asyncio.create_task(send())
        back = hashlib.sha256()
        async with asyncio.timeout(ENOUGH_SECONDS):
            while piece := await reader.read(1 << 16):
                back.update(piece)
            await sending
        writer.close()
        assert back.digest() == hashlib.sha256(data).digest()
        assert way.proxy.traffic.contacted == (Contact(server.place, 1, 8_000_000, 8_000_000),)


async def test_a_tunnel_in_which_nothing_is_said_is_closed() -> None:
    async with serving(answer=None) as server:
        limits = Limits(idle_seconds=0.2)
        async with proxying(server.place, local=[server.place], limits=limits) as way:
            reader, writer = await way.tunnel(server.place)
            async with asyncio.timeout(ENOUGH_SECONDS):
                assert await reader.read() == b""
                await server.ended.wait()
            writer.close()


async def test_a_tunnel_in_which_only_one_side_speaks_stays_open() -> None:
    pieces = 25

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(pieces):
            writer.write(b".")
            await asyncio.sleep(0.1)
        writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1") as made:
        place = f"{NAME}:{made.sockets[0].getsockname()[1]}"
        async with proxying(place, local=[place], limits=Limits(idle_seconds=2)) as way:
            reader, writer = await way.tunnel(place)
            async with asyncio.timeout(ENOUGH_SECONDS):
                assert await reader.read() == b"." * pieces
            writer.close()


async def test_a_client_that_vanishes_takes_its_server_connection_along() -> None:
    async with serving(answer=None) as server, proxying(server.place, local=[server.place]) as way:
        _, writer = await way.tunnel(server.place)
        writer.write(b"x")
        writer.transport.abort()
        async with asyncio.timeout(ENOUGH_SECONDS):
            await server.ended.wait()


async def test_who_finds_no_room_waits_until_there_is_some() -> None:
    async with serving(answer=None) as server:
        limits = Limits(connections=2)
        async with proxying(server.place, local=[server.place], limits=limits) as way:
            _, first = await way.tunnel(server.place)
            _, second = await way.tunnel(server.place)
            third = asyncio.create_task(way.tunnel(server.place))
            await asyncio.sleep(0.1)
            assert (third.done(), len(server.heard)) == (False, 2)
            first.close()
            _, writer = await third
            for left in (second, writer):
                left.close()


async def test_at_the_end_everything_ends_and_nothing_is_left() -> None:
    async def resolve(name: str, port: int) -> Sequence[str]:
        if name == NAME:
            return ["127.0.0.1"]
        await asyncio.Event().wait()
        return []

    async with serving(answer=None) as server:
        before = asyncio.all_tasks()
        hosts = [server.place, "never.test"]
        async with proxying(*hosts, local=[server.place], resolve=resolve) as way:
            lines = [await way.tunnel(server.place)]
            for said in (
                b"",
                b"GET http://half",
                b"CONNECT never.test:443 HTTP/1.1\r\n\r\n",
                f"POST http://{server.place}/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nx".encode(),
                b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n",
            ):
                line = await way.connect()
                line[1].write(said)
                lines.append(line)
            # A full pipe, whose other end nobody reads.
            lines[0][1].write(b"x" * 10_000_000)
            await asyncio.sleep(0.1)
            listening = way.proxy._listening
        assert listening.fileno() == -1
        async with asyncio.timeout(ENOUGH_SECONDS):
            for reader, writer in lines:
                with suppress(ConnectionError):
                    while await reader.read(1 << 16):
                        pass
                writer.transport.abort()
            while asyncio.all_tasks() - before:
                await asyncio.sleep(0.01)
        with pytest.raises(ConnectionRefusedError):
            await way.connect()


async def test_the_end_comes_at_once_for_whoever_has_just_called() -> None:
    for turns in range(10):
        async with proxying(NAME) as way:
            callers = [socket.create_connection(("127.0.0.1", way.port)) for _ in range(3)]
            for _ in range(turns):
                await asyncio.sleep(0)
        for caller in callers:
            caller.close()


async def test_what_goes_wrong_beside_the_proxy_comes_out_as_it_is() -> None:
    with pytest.raises(CommandExecutionError, match="beside"):
        async with proxying(NAME):
            raise CommandExecutionError("beside")


async def test_whoever_is_called_off_while_the_proxy_serves_is_called_off() -> None:
    inside = asyncio.Event()

    async def stay() -> None:
        async with proxying(NAME) as way:
            with socket.create_connection(("127.0.0.1", way.port)):
                inside.set()
                await asyncio.Event().wait()

    staying = asyncio.create_task(stay())
    await inside.wait()
    staying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await staying


async def test_no_bytes_whatever_stop_the_proxy_or_reach_another_server() -> None:
    dice = random.Random(20)
    async with serving() as server, serving() as trap:
        seeds = [
            f"GET http://{server.place}/ HTTP/1.1\r\nHost: {trap.place}\r\n\r\n".encode(),
            f"CONNECT {server.place} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n".encode(),
            f"POST http://{server.place}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            f"5\r\nabcde\r\n0\r\n\r\nGET http://{trap.place}/ HTTP/1.1\r\n\r\n".encode(),
        ]
        limits = Limits(head_seconds=0.05, idle_seconds=0.05)
        async with proxying(server.place, local=[server.place], limits=limits) as way:
            for _ in range(150):
                said = bytearray(dice.choice(seeds))
                for _ in range(dice.randrange(4)):
                    place = dice.randrange(len(said))
                    piece = dice.choice([b"", b"\0", b"\r", b"\n", b" ", b":", b"@", b"\xff", b"%"])
                    said[place : place + dice.randrange(3)] = piece
                reader, writer = await way.connect()
                writer.write(bytes(said))
                writer.write_eof()
                with suppress(ConnectionError):
                    await reader.read()
                writer.close()
            assert await way.say(seeds[0]) == ANSWER
        assert trap.heard == []


def test_it_serves_under_the_faster_loop_too() -> None:
    async def main() -> None:
        async with serving() as server, proxying(server.place, local=[server.place]) as way:
            assert await way.say(f"GET http://{server.place}/ HTTP/1.1\r\n\r\n") == ANSWER
            reader, writer = await way.tunnel(server.place)
            writer.write(b"anything")
            assert await reader.read() == ANSWER
            writer.close()
            _, idle = await way.connect()
            assert sentence_of(await way.say("CONNECT a.org:443 HTTP/1.1\r\n\r\n"))[0] == 403
            idle.close()

    uvloop.run(main())
