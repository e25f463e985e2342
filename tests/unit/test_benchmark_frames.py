"""The load generator's codec, against a library that speaks WebSocket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import Message, Ping, TextMessage

from benchmarks import frames
from benchmarks.load import parse, percentile
from benchmarks.relays.rooms import Rooms

SIZES = st.sampled_from([0, 1, 125, 126, 127, 65_535, 65_536])


@given(st.text(max_size=20), SIZES)
def test_a_client_frame_is_read_as_it_was_written(start: str, size: int) -> None:
    text = start + "x" * size
    server = Connection(ConnectionType.SERVER)
    server.receive_data(frames.encode(text.encode()))
    got = "".join(event.data for event in server.events() if isinstance(event, TextMessage))
    assert got == text


@given(st.lists(SIZES, min_size=1, max_size=4), st.integers(1, 5000))
def test_server_frames_are_cut_out_of_any_stream(sizes: list[int], step: int) -> None:
    server = Connection(ConnectionType.SERVER)
    stream = b"".join(server.send(Message(data="y" * size)) for size in sizes)
    stream += server.send(Ping(payload=b"p"))
    decoder = frames.Decoder()
    got = [
        frame
        for at in range(0, len(stream), step)
        for frame in decoder.feed(stream[at : at + step])
    ]
    assert got == [(frames.TEXT, b"y" * size) for size in sizes] + [(frames.PING, b"p")]


def test_a_fragment_is_refused() -> None:
    with pytest.raises(frames.BadFrame):
        frames.Decoder().feed(b"\x01\x01a")


def test_socket_io_packets_are_parsed() -> None:
    assert frames.parse(b'42["state",{"seq":1}]') == frames.Packet(
        frames.EVENT, None, ["state", {"seq": 1}]
    )
    assert frames.parse(b'4217["heartbeat",{}]').id == 17
    assert frames.parse(b'433[{"seq":9}]') == frames.Packet(frames.ACK, 3, [{"seq": 9}])
    assert frames.parse(b'40{"sid":"a"}').kind == frames.CONNECT
    assert frames.parse(b"41").data is None
    for garbage in (b"", b"4", b"2", b"45-[]"):
        with pytest.raises(frames.BadFrame):
            frames.parse(garbage)


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(n) for n in range(100)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (50.0, 99.0)
    assert percentile([3.0], 0.99) == 3.0


def test_a_relay_pairs_two_and_counts_their_messages() -> None:
    rooms = Rooms()
    assert rooms.ready("a") is None
    room = rooms.ready("b")
    assert room is not None
    assert room.sids == ("a", "b")
    assert rooms.start("a") is None
    assert rooms.start("b") is room
    seqs = [room.message("ab"[n % 2], {"parts": []})["seq"] for n in range(20)]
    assert seqs == list(range(2, 22))
    assert room.complete


def test_the_generators_options_are_read() -> None:
    options = parse(["--url", "http://h:1", "--pairs", "3", "--watch", "server=12", "--gap", "8"])
    assert (options.pairs, options.watch, options.gap_s) == (3, (("server", 12),), 8.0)
