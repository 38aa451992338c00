"""What the workers of a training say to each other besides numbers: dictionaries as JSON, each with its length."""

from __future__ import annotations

import functools
import json
import socket
import struct

from headrace._src.core import errors, network

WHERE = "MultiWorkerMirroredStrategy"
host_and_port = functools.partial(network.host_and_port, where=WHERE)
is_loopback = functools.partial(network.is_loopback, where=WHERE)
addresses_of = functools.partial(network.addresses_of, where=WHERE)
_LENGTH = struct.Struct("<I")
_LONGEST = 1 << 20


def send(connection: socket.socket, fields: dict) -> None:
    """Send a message.

    Raises:
        OSError: the other side has gone.
        ResourceExhaustedError: it is longer than messages may be.
    """
    text = json.dumps(fields).encode()
    if len(text) > _LONGEST:
        raise errors.resource_exhausted(f"{WHERE}: a message of {len(text)} bytes; at most {_LONGEST} may be sent.")
    connection.sendall(_LENGTH.pack(len(text)) + text)


def receive(connection: socket.socket) -> dict | None:
    """The next message; None when the other side has closed the connection, or sends something else.

    Raises:
        TimeoutError: nothing came for as long as the connection waits.
    """
    head = _exactly(connection, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    text = _exactly(connection, length) if length <= _LONGEST else None
    if text is None:
        return None
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and isinstance(fields.get("kind"), str) else None


def _exactly(connection, size):
    data = bytearray()
    while len(data) < size:
        try:
            part = connection.recv(size - len(data))
        except TimeoutError:
            raise
        except OSError:
            return None
        if not part:
            return None
        data += part
    return bytes(data)
