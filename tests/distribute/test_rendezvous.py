"""Workers that meet, with all of them in this process: who is missing, dead, gone, twice or a stranger."""

import contextlib
import re
import socket

import pytest
from waiting_threads import answers

import headrace as tf
from headrace._src.data.service.credentials import introduce
from headrace._src.distribute import control_messages, rendezvous
from headrace._src.distribute.rendezvous import Hub, Link, Member

MEMBERS = [Member("chief", 0, "here:1"), Member("worker", 0, "there:2"), Member("worker", 1, "there:3")]


class Meeting:
    """A hub, and the links of some workers to it."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.hub = Hub(MEMBERS, self.listener, 60.0)
        self.sockets = []

    def connection(self):
        found = socket.create_connection(self.listener.getsockname())
        self.sockets.append(found)
        return found

    def link(self, rank, **facts):
        found = self.connection()
        introduce(found, "the hub")
        link = Link(MEMBERS, rank, found, 60.0)
        link.hello({"version": 1, **facts})
        return link

    def all(self):
        links = [self.link(rank) for rank in range(3)]
        for link in links:
            link.wait_for_all(30.0)
        return links


@pytest.fixture
def meeting(monkeypatch):
    monkeypatch.setattr(rendezvous, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(rendezvous, "_STUCK_SECONDS", 0.2)
    found = Meeting()
    yield found
    for one in found.sockets:
        one.close()
    found.hub._chief_has_left.set()
    found.hub.close()


def test_agreements(meeting):
    links = meeting.all()
    for key in ("a", "b"):
        found = answers(*[lambda i=i, key=key: links[i].agree(key, [key, i]) for i in range(3)])
        assert found == [[[key, 0], [key, 1], [key, 2]]] * 3


def test_a_worker_that_never_comes_is_named_to_all(meeting):
    links = [meeting.link(0), meeting.link(2)]
    found = answers(
        lambda: meeting.hub.wait_for_all(0.1), lambda: links[0].wait_for_all(30), lambda: links[1].wait_for_all(30)
    )
    for error in found:
        assert isinstance(error, tf.errors.UnavailableError)
        assert "worker 0 (there:2) is still missing" in error.message


def test_a_worker_that_dies_is_named_to_all(meeting):
    links = meeting.all()
    meeting.sockets[1].shutdown(socket.SHUT_RDWR)
    for error in answers(lambda: links[0].agree("x", 0), lambda: links[2].agree("x", 0)):
        assert isinstance(error, tf.errors.UnavailableError)
        assert "worker 0 (there:2) has died" in error.message


def test_a_chief_that_dies_is_named(meeting):
    links = meeting.all()
    for guest in meeting.hub._guests.values():
        guest.has_left = True  # a chief that is dead tells nobody of anybody
    for guest in meeting.hub._guests.values():
        guest.connection.shutdown(socket.SHUT_RDWR)
    for error in answers(lambda: links[1].agree("x", 0), lambda: links[2].agree("x", 0)):
        assert re.search(r"chief 0 \(here:1\) (has died|cannot be reached)", error.message)


def test_a_worker_that_leaves_is_missed_only_where_it_is_needed(meeting):
    links = meeting.all()
    links[2].say("early", 2)
    links[2].count = 7
    links[2].close()
    found = answers(lambda: links[0].agree("early", 0), lambda: links[1].agree("early", 1))
    assert found == [[0, 1, 2]] * 2
    for error in answers(lambda: links[0].agree("late", 0, "the end"), lambda: links[1].agree("late", 1, "the end")):
        assert "worker 1 (there:3) has ended its program" in error.message
        assert "waits for it in the end" in error.message
    assert links[0].error_for(7, "all_reduce") is None
    assert "worker 1 (there:3)" in links[0].error_for(8, "all_reduce").message


def test_what_must_be_the_same_is_compared(meeting):
    first = meeting.link(0)
    second = meeting.link(1, version=2)
    for error in answers(lambda: first.wait_for_all(30), lambda: second.wait_for_all(30)):
        assert "version differs: chief 0 (here:1) has 1, worker 0 (there:2) has 2" in error.message


def test_the_same_worker_twice(meeting):
    meeting.link(1)
    (error,) = answers(lambda: meeting.link(1).wait_for_all(30))
    assert "worker 0 (there:2) is there twice" in error.message


def test_workers_that_wait_for_different_things(meeting):
    links = meeting.all()
    found = answers(
        lambda: links[0].agree("a", 0, "all_reduce"), lambda: links[1].agree("b", 0, "a batch"),
        lambda: links[2].agree("b", 0, "a batch"),
    )  # fmt: skip
    for error in found:
        assert "chief 0 (here:1) waits in all_reduce; worker 0 (there:2) waits in a batch" in error.message


@pytest.mark.parametrize("sent", [
    b"", b"\0" * 64, b"GET / HTTP/1.1\r\n\r\n" + b"x" * 100, b"\xff" * 100,
])  # fmt: skip
def test_strangers_get_nothing(meeting, sent):
    links = meeting.all()
    stranger = meeting.connection()
    stranger.settimeout(30)
    stranger.recv(52, socket.MSG_WAITALL)
    with contextlib.suppress(OSError):  # the hub may have closed it already
        stranger.sendall(sent)
        stranger.shutdown(socket.SHUT_WR)
    with contextlib.suppress(ConnectionError):
        assert stranger.recv(1) == b""
    assert answers(*[lambda i=i: links[i].agree("still", i) for i in range(3)]) == [[0, 1, 2]] * 3


def test_messages_have_a_limit():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(tf.errors.ResourceExhaustedError):
            control_messages.send(ours, {"kind": "x", "text": "x" * (1 << 20)})
        for bad in (b"\xff\xff\xff\xff", b"\x02\0\0\0[]", b"\x05\0\0\0{bad}", b"\x02\0\0\0{}"):
            ours.sendall(bad)
            assert control_messages.receive(theirs) is None


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("192.0.2.1", False), ("0.0.0.0", False)],
)
def test_what_is_loopback(host, is_here):
    assert control_messages.is_loopback(host) == is_here
