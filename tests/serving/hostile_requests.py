"""Requests that are large, slow or deep, for scripts/fuzz_requests, and what talks to sockets for it."""

import contextlib
import pathlib
import re
import socket
import time

LARGEST = 16 << 20  # bytes of a body


def free_port():
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def megabytes(process):
    """How much memory a process has."""
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) / 1024


def read_reply(connection, has_body=True):
    """The status and the body of a reply.

    Raises:
        OSError, ValueError: there is none.
    """
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(1 << 16)
        if not more:
            raise ConnectionError("closed")
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    length = int(re.search(rb"(?i)content-length: *(\d+)", head + b"\r\ncontent-length: 0")[1]) if has_body else 0
    while len(body) < length:
        more = connection.recv(1 << 16)
        if not more:
            raise ConnectionError("cut off")
        body += more
    return status, body.decode("utf-8", "replace")


def posted(port, body, path="/v1/models/half_plus_three:predict", timeout=60):
    """The reply to a sound request."""
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        return read_reply(connection)


def is_answering(port):
    """Whether a sound request has its reply, soon."""
    begun = time.monotonic()
    status, _ = posted(port, b'{"instances": [1.0]}')
    return status == 200 and time.monotonic() - begun < 5


def _sent_until_closed(port, head, piece, count):
    """Send pieces until the server answers or closes; how much was sent, and the status if there was one."""
    sent, rest = 0, b""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(head)
        connection.setblocking(False)
        end = time.monotonic() + 120
        while sent < count * len(piece) and time.monotonic() < end:
            rest = rest or piece
            try:
                done = connection.send(rest)
                sent, rest = sent + done, rest[done:]
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break
            with contextlib.suppress(BlockingIOError):
                try:
                    reply = connection.recv(1 << 16)
                except ConnectionError:
                    break
                return sent, int(reply.split(b" ", 2)[1]) if reply else None
        connection.settimeout(30)
        with contextlib.suppress(OSError):
            reply = connection.recv(1 << 16)
            return sent, int(reply.split(b" ", 2)[1]) if reply else None
    return sent, None


def large_body(server, client, quick):
    """A body of 1 GB, announced."""
    before, size = server.megabytes(), 1 << 30
    head = f"POST /v1/models/half_plus_three:predict HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode()
    sent, status = _sent_until_closed(server.rest, head, b" " * (1 << 20), size >> 20)
    grown = server.megabytes() - before
    return f"a body of 1 GB: {status} after {sent >> 20} MB, memory +{grown:.0f} MB", status == 429 and grown < 100


def endless_body(server, client, quick):
    """A body of 1 GB whose size nobody says."""
    before = server.megabytes()
    head = b"POST /v1/models/half_plus_three:predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    sent, status = _sent_until_closed(server.rest, head, piece, 1 << 10)
    grown = server.megabytes() - before
    return f"1 GB in chunks: {status} after {sent >> 20} MB, memory +{grown:.0f} MB", status == 429 and grown < 100


def endless_head(server, client, quick):
    """Headers without end."""
    before = server.megabytes()
    sent, status = _sent_until_closed(server.rest, b"GET / HTTP/1.1\r\n", b"A: " + b"b" * 8187 + b"\r\n", 1 << 15)
    grown = server.megabytes() - before
    return f"256 MB of headers: {status} after {sent >> 10} kB, memory +{grown:.0f} MB", grown < 60


def slow_bodies(server, client, quick):
    """Bodies that come a byte at a time, while others want answers."""
    head = b"POST /v1/models/half_plus_three:predict HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"
    connections = [socket.create_connection(("127.0.0.1", server.rest), 60) for _ in range(20)]
    for connection in connections:
        connection.sendall(head)
    begun, slowest = time.monotonic(), 0.0
    while time.monotonic() - begun < (4 if not quick else 3.5):
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.send(b" ")
        before = time.monotonic()
        assert posted(server.rest, b'{"instances": [1.0]}')[0] == 200
        slowest = max(slowest, time.monotonic() - before)
        time.sleep(0.05)
    statuses = []
    for connection in connections:
        with contextlib.suppress(OSError, ValueError):
            statuses.append(read_reply(connection)[0])
        connection.close()
    good = statuses == [504] * 20 and slowest < 2
    return f"20 slow bodies: {sorted(set(statuses))}; others waited {slowest * 1000:.0f} ms at most", good


def idle_connections(server, client, quick):
    """Many connections that say nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.rest), 60))
        good = is_answering(server.rest)
    return "500 connections that say nothing: others are answered", good


def deep_json(server, client, quick):
    """Lists in lists, closed and not."""
    statuses = []
    for body in (b"[" * (8 << 20), b'{"instances": ' + b"[" * 100_000 + b"1" + b"]" * 100_000 + b"}",
                 b'{"instances": ' + b"[" * 900 + b"1" + b"]" * 900 + b"}", b'{"a":' * 100_000):  # fmt: skip
        statuses.append(posted(server.rest, body)[0])
    return f"deep JSON: {sorted(set(statuses))}", set(statuses) == {400}


def wide_strings(server, client, quick):
    """Texts of which one is long, where numbers belong: an array of texts of one size would be large."""
    before = server.megabytes()
    body = b'{"instances": ["' + b"a" * (1 << 20) + b'"' + b', "b"' * 10_000 + b"]}"
    status, _ = posted(server.rest, body)
    grown = server.megabytes() - before
    return f"a long text among 10,000: {status}, memory +{grown:.0f} MB", status == 400 and grown < 100


def run(server, client, quick):
    """(What has happened, whether that is good) for each."""
    found = []
    for check in (large_body, endless_body, endless_head, slow_bodies, idle_connections, deep_json, wide_strings):
        try:
            found.append(check(server, client, quick))
        except (OSError, ValueError, AssertionError) as error:
            found.append((f"{check.__name__}: {type(error).__name__}: {error}", False))
        if not is_answering(server.rest):
            found.append((f"after {check.__name__} the server does not answer", False))
    return found
