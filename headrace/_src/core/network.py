"""Hosts and the addresses at which programs listen and find each other."""

from __future__ import annotations

import ipaddress
import os
import socket

from headrace._src.core import errors

BIND_VARIABLE = "HEADRACE_BIND_ADDRESS"  # where to listen, where that is not the address that others use


def host_and_port(address: str, where: str) -> tuple[str, int]:
    """The parts of an address.

    Raises:
        ValueError: it is none.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f'{where}: {address!r} is no address such as "host:2222".')
    return host.strip("[]"), int(port)


def addresses_of(host: str, where: str) -> list[str]:
    """The numeric addresses of a host.

    Raises:
        UnavailableError: the name is not known.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise errors.unavailable(f"{where}: the host {host!r} is not known here: {error}.") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_loopback(host: str, where: str) -> bool:
    """Whether a host is this machine, seen from nowhere else.

    Raises:
        UnavailableError: the name is not known.
    """
    return all(ipaddress.ip_address(found.split("%")[0]).is_loopback for found in addresses_of(host, where))


def place_to_listen(host: str) -> str:
    """Where a server listens that others find at `host`: there, unless `HEADRACE_BIND_ADDRESS` says otherwise."""
    return os.environ.get(BIND_VARIABLE) or host


def listener(place: str, port: int, where: str, shared: bool = False) -> socket.socket:
    """A socket that listens.

    Args:
        place: a host.
        port: a port.
        where: for messages.
        shared: whether other processes may listen at the port too.

    Raises:
        OSError: it cannot.
        UnavailableError: the name is not known.
    """
    found = addresses_of(place, where)
    # 127.0.0.1 before ::1, where a name has both: it is what others try first.
    address = next((one for one in found if ":" not in one), found[0])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, reuse_port=shared)
