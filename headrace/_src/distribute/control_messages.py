"""What the workers of a training say to each other besides numbers: dictionaries as JSON, each with its length."""

from __future__ import annotations

import ipaddress
import json
import socket
import struct

from headrace._src.core import errors

WHERE = "MultiWorkerMirroredStrategy"
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


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of an address.

    Raises:
        ValueError: it is none.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f'{WHERE}: {address!r} is no address such as "host:2222".')
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from nowhere else.

    Raises:
        UnavailableError: the name is not known.
    """
    return all(ipaddress.ip_address(found.split("%")[0]).is_loopback for found in addresses_of(host))


def addresses_of(host: str) -> list[str]:
    """The numeric addresses of a host.

    Raises:
        UnavailableError: the name is not known.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise errors.unavailable(f"{WHERE}: the host {host!r} is not known here: {error}.") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
