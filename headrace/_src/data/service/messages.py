"""What the programs of the data service say to each other: a dictionary and some bytes, over a socket.

A message is four letters, the length of the dictionary as JSON, the length of the bytes, and both. Nothing in it is
code. A server answers each message with one; an error is an answer with its code. Before the first one, both sides
prove that they know the secret of the dispatcher (`credentials`). Servers of the same program are called directly. See
docs/decisions/0035-data-service.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
import time
import weakref
from typing import Any

from headrace._src.core import errors, network
from headrace._src.data.saving.element_bytes import buffers
from headrace._src.data.service.credentials import (
    FILE_VARIABLE,
    SECRET_VARIABLE,
    WHERE,
    Credentials,
    given_secret,
    introduce,
)

_HEAD = struct.Struct("<4sIQ")
_LETTERS = b"HDS2"
_LONGEST_TEXT = 1 << 20
LIMIT_VARIABLE = "HEADRACE_SERVICE_LARGEST_MESSAGE"
HOST_VARIABLE = "HEADRACE_SERVICE_HOST"  # the name or address by which others find the servers of this machine
_HERE = "localhost"
_LARGEST = 1 << 30
_MOST_STRANGERS = 64  # connections that have not shown yet that they know the secret
_PART = 1 << 20
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 0.1  # between attempts to reach a server that is expected to come back
_ATTEMPTS = 20  # at one that may have ended
PATIENCE_SECONDS = 60.0  # how long that is expected

_local: weakref.WeakValueDictionary = weakref.WeakValueDictionary()  # by address, the servers of this program


def send(connection: socket.socket, fields: dict, payload: Any = b"") -> None:
    """Send a message.

    Args:
        connection: where to.
        fields: numbers, strings, lists and dictionaries.
        payload: bytes, an element (a tuple of arrays), or something with `encoded()`.
    """
    parts = [payload] if isinstance(payload, bytes) else None
    if parts is None:
        parts = buffers(payload) if isinstance(payload, tuple) else [payload.encoded()]
    text = json.dumps(fields).encode()
    size = sum(map(len, parts))
    _check_size(size)
    connection.sendall(_HEAD.pack(_LETTERS, len(text), size) + text)
    for part in parts:
        connection.sendall(part)


def largest_message() -> int:
    """How many bytes a message may have: `HEADRACE_SERVICE_LARGEST_MESSAGE`, or 1 GiB.

    Raises:
        InvalidArgumentError: the variable is no number of bytes.
    """
    given = os.environ.get(LIMIT_VARIABLE)
    if not given:
        return _LARGEST
    if not given.isdecimal():
        raise errors.invalid_argument(f"{LIMIT_VARIABLE} must be a number of bytes, got {given!r}.")
    return int(given)


def _check_size(size):
    if size > largest_message():
        raise errors.resource_exhausted(
            f"data.experimental.service: a dataset or an element of {size} bytes is more than a message may have, "
            f"{largest_message()} bytes. Set {LIMIT_VARIABLE} to a larger number in all programs that take part."
        )


def receive(connection: socket.socket) -> tuple[dict, bytes] | None:
    """The next message; None when the other side has closed the connection.

    Raises:
        DataLossError: the bytes are not a message.
        ResourceExhaustedError: it is larger than messages may be.
    """
    head = _exactly(connection, _HEAD.size, can_end=True)
    if head is None:
        return None
    letters, length, size = _HEAD.unpack(head)
    if letters != _LETTERS or length > _LONGEST_TEXT:
        raise errors.data_loss("data.experimental.service: what came over a connection is no message of the service.")
    _check_size(size)
    try:
        fields = json.loads(_exactly(connection, length))
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise errors.data_loss("data.experimental.service: the fields of a message cannot be read.")
    return fields, bytes(_exactly(connection, size))


def _exactly(connection, size, can_end=False):
    """Read `size` bytes. Memory is taken only as they come."""
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(_PART, size - len(data)))
        if not part:
            if can_end and not data:
                return None
            raise errors.data_loss("data.experimental.service: a connection was closed in the middle of a message.")
        data += part
    return data


class PeerGone(errors.UnavailableError):
    """A server cannot be reached, as against an error of this class that it answers with."""

    __module__ = errors.UnavailableError.__module__  # which it is for users


PeerGone.__name__ = PeerGone.__qualname__ = errors.UnavailableError.__name__


class ServerEnded(PeerGone):
    """The server itself finds, while it is about to answer, that it has ended."""


class Server:
    """Answers messages: `handle(kind, fields, payload)` returns fields and a payload.

    Args:
        port: where to listen; 0 for any that is free.
        host: by which others find this machine; by default `HEADRACE_SERVICE_HOST`, or only programs of this machine
            do.
    """

    name = "server"

    def __init__(self, port: int, host: str | None = None):
        self._wanted_port = port
        self._host = host or os.environ.get(HOST_VARIABLE) or _HERE
        self.port = 0
        self._listener: socket.socket | None = None
        self._connections: set = set()
        self._lock = threading.Lock()
        self._strangers = threading.BoundedSemaphore(_MOST_STRANGERS)
        self.ended = threading.Event()

    @property
    def credentials(self) -> Credentials | None:
        """What those must know who connect; None as long as nobody may."""
        raise NotImplementedError(type(self).__name__)

    @property
    def address(self) -> str:
        """Where the server is."""
        return f"[{self._host}]:{self.port}" if ":" in self._host else f"{self._host}:{self.port}"

    @property
    def is_running(self) -> bool:
        """Whether it answers."""
        return self._listener is not None

    def start(self) -> None:
        """Begin to listen.

        Raises:
            FailedPreconditionError: others than this machine could connect, and there is no secret.
            UnavailableError: the port or the address cannot be had.
        """
        if self._listener is not None:
            return
        place = self._place()
        if given_secret() is None and not network.is_loopback(place, WHERE):
            raise errors.failed_precondition(
                f"{WHERE}: the {self.name} is to listen at {place}, where other machines can reach it, and there is no "
                f"secret by which programs know each other. Set {SECRET_VARIABLE}, or {FILE_VARIABLE} to a file with "
                "one, in all that take part."
            )
        try:
            self._listener = network.listener(place, self._wanted_port, WHERE)
        except OSError as error:
            raise errors.unavailable(
                f"{WHERE}: cannot listen on port {self._wanted_port} of {place}: {error}. {network.BIND_VARIABLE} sets "
                "another address to listen at."
            ) from error
        self.port = self._listener.getsockname()[1]
        self.ended.clear()
        _local[self.address] = self
        # Threads know the server weakly, so that it ends when it is dropped.
        start_thread(f"data-service-{self.name}", _listen, self._listener, weakref.ref(self))

    def _place(self):
        """Where to listen."""
        place = network.place_to_listen(self._host)
        try:
            network.addresses_of(place, WHERE)
        except errors.UnavailableError:
            if place != self._host:
                raise
            return _HERE  # the name is one by which only others know this machine
        return place

    def stop(self) -> None:
        """End: connections are closed, and no more are accepted."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        _local.pop(self.address, None)
        with self._lock:
            connections = list(self._connections)
        for one in (listener, *connections):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        self.ended.set()

    def handle(self, kind: str, fields: dict, payload: Any) -> tuple[dict, Any]:
        """Answer a message."""
        raise NotImplementedError(type(self).__name__)

    def caller(self, kind: str, fields: dict) -> Any:
        """Who has sent a message, if this server wants to know when that one's connection ends; else None."""
        return None

    def caller_left(self, caller: Any) -> None:
        """The connection of such a caller has ended, as it does when its process is killed."""

    def admit(self, connection: socket.socket) -> bool:
        """Whether who has connected may talk to this server."""
        credentials = self.credentials
        if credentials is None or not self._strangers.acquire(blocking=False):
            return False
        try:
            return credentials.admit(connection)
        finally:
            self._strangers.release()

    def _keep(self, connection, is_open):
        with self._lock:
            (self._connections.add if is_open else self._connections.discard)(connection)

    def __del__(self):
        if getattr(self, "_listener", None) is not None:
            self.stop()


def checked_fields(kind: str, fields: dict, known: dict[str, dict[str, tuple]], who: str) -> None:
    """Compare the fields of a message with those that it must have.

    Args:
        kind: of the message.
        fields: of the message.
        known: for each kind, the fields and their classes.
        who: the server, for messages.

    Raises:
        UnimplementedError: there is no such kind.
        InvalidArgumentError: a field is missing, of another class, or one too many.
    """
    where = "data.experimental.service"
    expected = known.get(kind)
    if expected is None:
        raise errors.unimplemented(f"{where}: the {who} does not know the message {kind!r}.")
    if fields.keys() != expected.keys():
        raise errors.invalid_argument(
            f"{where}: the message {kind!r} must have the fields {sorted(expected)}, got {sorted(map(str, fields))}."
        )
    for name, classes in expected.items():
        value = fields[name]
        if not isinstance(value, classes) or (isinstance(value, bool) and bool not in classes):
            raise errors.invalid_argument(
                f"{where}: the field {name} of the message {kind!r} must be {classes[0].__name__}, got {value!r:.100}."
            )


def start_thread(name: str, function, *arguments) -> threading.Thread:
    """A thread that does not keep the program from ending."""
    thread = threading.Thread(target=function, args=arguments, name=name, daemon=True)
    thread.start()
    return thread


def _listen(listener, server_of):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start_thread("data-service-connection", _answer, connection, server_of)


def _answer(connection, server_of):
    server = server_of()
    if server is None:
        connection.close()
        return
    server._keep(connection, True)
    caller = None
    try:
        if not server.admit(connection):
            return
        del server
        while (message := receive(connection)) is not None:
            server = server_of()
            if server is None or not server.is_running:
                return
            fields, payload = message
            kind = str(fields.pop("kind", ""))
            caller = server.caller(kind, fields) or caller
            try:
                fields, payload = server.handle(kind, fields, payload)
                send(connection, fields, payload)
            except ServerEnded:
                return
            except errors.OpError as error:
                send(connection, {"error": error.error_code, "message": error.message})
            except OSError:
                raise
            except Exception as error:  # the reader is told; the server goes on
                send(connection, {"error": errors.INTERNAL, "message": f"{type(error).__name__}: {error}"})
            del server
    except errors.ResourceExhaustedError as error:
        with contextlib.suppress(OSError):
            send(connection, {"error": error.error_code, "message": error.message})
    except (OSError, errors.OpError):
        pass  # the other side has gone, or does not speak this protocol
    finally:
        connection.close()
        if (server := server_of()) is not None:
            server._keep(connection, False)
            if caller is not None and server.is_running:
                server.caller_left(caller)


def refuses(address: str) -> bool:
    """Whether nobody listens at an address any more, on a machine that says so: the process there has ended."""
    for _ in range(_ATTEMPTS):  # a process that ends closes one thing after another
        try:
            socket.create_connection(network.host_and_port(address, WHERE), _CONNECT_SECONDS).close()
        except ConnectionRefusedError:
            return True
        except (OSError, ValueError, OverflowError, errors.OpError):
            pass
        time.sleep(_RETRY_SECONDS)
    return False


class Peer:
    """A server somewhere, to which messages can be sent by several threads.

    Args:
        address: such as "localhost:5000".
        what: who it is, for messages.
    """

    def __init__(self, address: str, what: str):
        self.address = address
        self._what = what
        self.credentials: Credentials | None = None  # once a connection was made
        self._idle: list[socket.socket] = []
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def local(self) -> Server | None:
        """The server itself, where it belongs to this program."""
        return _local.get(self.address)

    def call_patiently(self, seconds: float, kind: str, **fields) -> tuple[dict, Any]:
        """The same as `call`; but a server that cannot be reached has some time to come back."""
        until = time.monotonic() + seconds
        while True:
            try:
                return self.call(kind, **fields)
            except PeerGone:
                if time.monotonic() >= until:
                    raise
                time.sleep(_RETRY_SECONDS)

    def call(self, kind: str, payload: Any = b"", **fields) -> tuple[dict, Any]:
        """Send a message and wait for the answer.

        Raises:
            PeerGone: there is no such server.
            OpError: the server answered with an error.
        """
        local = self.local
        if local is not None:
            try:
                return local.handle(kind, fields, payload)
            except ServerEnded:
                raise
            except PeerGone as error:  # one that the server asked; it is there itself
                raise errors.unavailable(error.message) from error
        connection = self._connection()
        try:
            send(connection, {"kind": kind, **fields}, payload)
            answer = receive(connection)
            if answer is None:
                raise ConnectionResetError("the connection was closed")
        except BaseException as error:
            connection.close()
            if isinstance(error, (OSError, errors.DataLossError)):
                raise self._gone(error) from error
            raise
        with self._lock:
            if self._is_closed:
                connection.close()
            else:
                self._idle.append(connection)
        fields, payload = answer
        if "error" in fields:
            raise errors.from_code(int(fields["error"]), str(fields.get("message", "")))
        return fields, payload

    def _connection(self):
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            connection = socket.create_connection(network.host_and_port(self.address, WHERE), _CONNECT_SECONDS)
        except (OSError, ValueError, OverflowError) as error:
            raise self._gone(error) from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.credentials = introduce(connection, self.address)
        except BaseException as error:
            connection.close()
            if isinstance(error, OSError):
                raise self._gone(error) from error
            raise
        return connection

    def _gone(self, error):
        return PeerGone(None, None, f"{WHERE}: the {self._what} at {self.address} cannot be reached: {error}.")

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
