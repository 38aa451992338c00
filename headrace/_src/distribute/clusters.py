"""Joining the cluster that a resolver describes: who takes part, who is chief, and the connection to all."""

from __future__ import annotations

import atexit
import os
import socket
import time
from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.core.network import BIND_VARIABLE, listener, place_to_listen
from headrace._src.data.service.credentials import FILE_VARIABLE, SECRET_VARIABLE, given_secret, introduce
from headrace._src.distribute.collectives import Group, current_group, join
from headrace._src.distribute.control_messages import WHERE, addresses_of, host_and_port, is_loopback
from headrace._src.distribute.rendezvous import Hub, Link, Member
from headrace._src.distribute.xla_collectives import Processes, serve
from headrace._src.version import HEADRACE_VERSION

TIMEOUT_VARIABLE = "HEADRACE_CLUSTER_TIMEOUT"
SILENCE_VARIABLE = "HEADRACE_CLUSTER_SILENCE"
_JOBS = ("chief", "master", "worker")
_LAST_SECONDS = 3.0  # for what waits for a worker that has died


def members_of(cluster) -> list[Member]:
    """The workers of a cluster that train together, the chief first.

    Raises:
        ValueError: it has jobs that cannot take part.
    """
    others = sorted(set(cluster.jobs) - {*_JOBS, "evaluator"})
    if others:
        raise ValueError(
            f"{WHERE}: cluster.{others[0]} has no place in this strategy, whose jobs are chief, worker and evaluator."
            + (" Parameter servers are not implemented: leave the job out." if others[0] == "ps" else "")
        )
    found = [Member(job, i, cluster.task_address(job, i)) for job in _JOBS if job in cluster.jobs
             for i in cluster.task_indices(job)]  # fmt: skip
    if sum(member.job in ("chief", "master") for member in found) > 1:
        raise ValueError(f"{WHERE}: cluster has more than one chief: {', '.join(map(str, found))}.")
    return found


def seconds_of(variable: str, default: float) -> float:
    """A number of seconds that a variable of the environment sets.

    Raises:
        ValueError: it is no such number.
    """
    text = os.environ.get(variable)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise ValueError(f"{variable} must be a number of seconds above 0, got {text!r}.")
    return value


def joined(members: list[Member], rank: int, facts: dict[str, Any], timeout: float | None) -> Group:
    """Meet all workers, and be one of their group.

    Args:
        members: all workers, the chief first.
        rank: which one this process is.
        facts: what must be the same on all.
        timeout: how many seconds an operation of all may take, and waiting for all to come unless the environment says
            something else; None for any time.

    Raises:
        UnavailableError: some workers did not come; the message names them.
        FailedPreconditionError: the chief is on another machine, and there is no secret.
    """
    known = current_group()
    if known is not None:
        if known.link.members != members:
            raise RuntimeError(f"{WHERE}: this process belongs to another cluster already: {known.link.members}.")
        return known
    host, port = host_and_port(members[0].address)
    _check_secret(members)
    wait = seconds_of(TIMEOUT_VARIABLE, 300.0 if timeout is None else timeout)
    silence = seconds_of(SILENCE_VARIABLE, 60.0)
    hub = _listening(members, host, port, silence) if rank == 0 else None
    link = Link(members, rank, _connected(members[0], host, port, wait), silence)
    facts = {"the version of headrace": HEADRACE_VERSION, "the cluster": [str(member) for member in members], **facts}
    link.hello(facts)
    if hub is not None:
        hub.wait_for_all(wait)
    link.wait_for_all(wait + 10.0)
    link.timeout = timeout
    group = Group(link, lambda: _processes(link, host), timeout)
    join(group)
    atexit.register(_leave, group, hub)
    return group


def _check_secret(members):
    """Refuse other machines without a secret."""
    if given_secret(WHERE) is not None:
        return
    for member in members:
        if not is_loopback(host_and_port(member.address)[0]):
            raise errors.failed_precondition(
                f"{WHERE}: {member} is not on this machine's loopback interface, and there is no secret by which "
                f"workers know each other. Set {SECRET_VARIABLE}, or {FILE_VARIABLE} to a file with one, in all of "
                "them; `headrace launch` does it for you."
            )


def _listening(members, host, port, silence):
    bind = place_to_listen(host)
    try:
        socket_of_chief = listener(bind, port, WHERE)
    except OSError as error:
        raise errors.unavailable(
            f"{WHERE}: {members[0]} cannot listen at {bind}:{port}: {error}. The address in TF_CONFIG must be one of "
            f"this machine, and free; {BIND_VARIABLE} sets another one to listen at."
        ) from error
    return Hub(members, socket_of_chief, silence)


def _connected(chief, host, port, wait):
    """A connection to the chief, which may come later than this worker."""
    until = time.monotonic() + wait
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=5.0)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            introduce(connection, str(chief), WHERE)
            return connection
        except OSError as error:
            if time.monotonic() > until:
                raise errors.unavailable(
                    f"{WHERE}: after {wait:g} seconds {chief} is still missing: it cannot be reached: {error}. Was it "
                    f"started, and can this machine reach it? {TIMEOUT_VARIABLE}, or timeout_seconds of "
                    "CommunicationOptions, sets how long to wait."
                ) from error
            time.sleep(0.1)


def _processes(link, chief_host):
    """XLA's view of the group. The chief finds a free port for its service, and tells the others."""
    chief = addresses_of(chief_host)[0]
    served = said = None
    if link.rank == 0:
        served, said = _served(chief, len(link.members))
    service = link.agree("the service of XLA", said)[0]
    own = addresses_of(host_and_port(link.members[link.rank].address)[0])[0]
    processes = Processes(service, link.rank, len(link.members), own)
    link.agree("all are connected", True)
    del served
    return processes


def _served(chief, count):
    """XLA's service at a free port, and its address.

    Where ports can be shared, ours stays bound until the service listens: nobody else gets the port meanwhile. (To try
    another port afterwards is no way: a service that cannot start may end the process.)
    """
    with socket.socket(socket.AF_INET6 if ":" in chief else socket.AF_INET) as held:
        if operating_system.shares_ports():
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((chief, 0))
        port = held.getsockname()[1]
        address = f"[{chief}]:{port}" if ":" in chief else f"{chief}:{port}"
        if operating_system.shares_ports():
            return serve(address, count), address
    return serve(address, count), address


def _leave(group, hub):
    group.link.close()
    if hub is not None:
        hub.close()
    group.settle(_LAST_SECONDS)
