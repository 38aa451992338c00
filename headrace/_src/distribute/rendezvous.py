"""Where the workers of a training meet: the chief listens, all connect to it, and stay connected.

It knows who is missing, tells all when one dies or leaves, lets them agree on small things, and sees when they wait for
different things, so that no worker waits forever for one that will not come. Numbers do not go this way: see
`collectives`. docs/decisions/0050-many-hosts.md has the reasons.
"""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import threading
import time
from typing import Any

from headrace._src.core import errors
from headrace._src.data.service.credentials import Credentials
from headrace._src.distribute.control_messages import WHERE, receive, send

BEAT_SECONDS = 1.0
_STUCK_SECONDS = 4.0  # how long all must wait for different things until that is an error
_MOST_STRANGERS = 64
_LONGEST_WAIT = 20.0  # for those whose error another worker will tell


@dataclasses.dataclass(frozen=True)
class Member:
    """A worker: its job, its number there, and its address."""

    job: str
    index: int
    address: str

    def __str__(self):
        return f"{self.job} {self.index} ({self.address})"


class _Guest:
    """What the hub knows of a worker that has connected."""

    def __init__(self, rank, connection):
        self.rank = rank
        self.connection = connection
        self.lock = threading.Lock()  # of what is sent
        self.count = 0  # of operations of all workers that it has begun
        self.doing = ""  # what it waits for, as a text
        self.key = ""  # of that, by which all name the same thing alike
        self.has_left = False

    def tell(self, fields):
        with self.lock, contextlib.suppress(OSError):
            send(self.connection, fields)


class Hub:
    """What the chief listens with.

    Args:
        members: all workers, in the order of their ranks.
        listener: the socket to listen at.
        silence: after how many seconds without a word a worker counts as dead.
    """

    def __init__(self, members: list[Member], listener: socket.socket, silence: float):
        self._members = members
        self._listener = listener
        self._silence = silence
        self._credentials = Credentials.new(WHERE)
        self._lock = threading.Lock()
        self._guests: dict[int, _Guest] = {}
        self._agreements: dict[str, dict[int, Any]] = {}
        self._failure: str | None = None
        self._strangers = threading.BoundedSemaphore(_MOST_STRANGERS)
        self._all_here = threading.Event()
        self._chief_has_left = threading.Event()
        self._stuck: tuple = ()
        self._stuck_since = 0.0
        _thread("cluster-hub", self._listen)

    def wait_for_all(self, seconds: float) -> None:
        """Wait until all workers have come.

        Raises:
            UnavailableError: some have not; the message names them. Those that came are told as well.
        """
        if self._all_here.wait(seconds):
            return
        with self._lock:
            missing = [str(self._members[i]) for i in range(len(self._members)) if i not in self._guests]
        if missing:
            said = (
                f"{WHERE}: after {seconds:g} seconds {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} still "
                f"missing, of {len(self._members)} workers. Was it started, with the same cluster in TF_CONFIG, and "
                "can it reach this machine? HEADRACE_CLUSTER_TIMEOUT, or timeout_seconds of CommunicationOptions, sets "
                "how long to wait."
            )
            self._fail(said)
            raise errors.unavailable(said)

    def close(self) -> None:
        """End, when those who were told that the chief leaves have had a moment to hear it."""
        self._credentials.forget()
        self._chief_has_left.wait(1.0)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            guests = list(self._guests.values())
        for guest in guests:
            with contextlib.suppress(OSError):
                guest.connection.shutdown(socket.SHUT_RDWR)

    def _listen(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _thread("cluster-guest", self._receive_from, connection)

    def _receive_from(self, connection):
        guest = None
        try:
            guest = self._admitted(connection)
            if guest is None:
                return
            connection.settimeout(self._silence)
            while (message := receive(connection)) is not None:
                self._hear(guest, message)
        except TimeoutError:
            if guest is not None:
                self._fail(f"{WHERE}: {self._members[guest.rank]} has not been heard of for {self._silence:g} seconds.")
        except (OSError, errors.OpError, KeyError, TypeError):
            pass  # not of this protocol, or gone
        finally:
            connection.close()
            if guest is not None and not guest.has_left:
                self._fail(f"{WHERE}: {self._members[guest.rank]} has died: its process has ended, or was killed.")

    def _admitted(self, connection):
        """The worker that has connected; None for anybody else."""
        if not self._strangers.acquire(blocking=False):
            return None
        try:
            if not self._credentials.admit(connection):
                return None
            connection.settimeout(10.0)
            hello = receive(connection)
        finally:
            self._strangers.release()
        if hello is None or hello["kind"] != "hello":
            return None
        rank, facts = int(hello["rank"]), hello["facts"]
        said = None
        with self._lock:
            if not 0 <= rank < len(self._members):
                said = f"{WHERE}: a worker has the number {rank}, but there are {len(self._members)}."
            elif rank in self._guests:
                said = (
                    f"{WHERE}: {self._members[rank]} is there twice: two processes have the same task.type and "
                    "task.index in TF_CONFIG."
                )
            else:
                said = self._difference(rank, facts)
        guest = _Guest(rank, connection)
        if said is not None:
            guest.tell({"kind": "failed", "message": said})
            if self._failure is None and not self._all_here.is_set():
                self._fail(said)
            return None
        with self._lock:
            self._guests[rank] = guest
            failure, is_complete = self._failure, len(self._guests) == len(self._members)
        if failure is not None:
            guest.tell({"kind": "failed", "message": failure})
        if is_complete:
            self._all_here.set()
            for one in list(self._guests.values()):
                one.tell({"kind": "begin"})
        return guest

    def _difference(self, rank, facts):
        """What a worker says otherwise than those before it; None if it says the same."""
        if not hasattr(self, "_facts"):
            self._facts, self._facts_of = facts, rank
            return None
        for name in sorted(set(facts) | set(self._facts)):
            if facts.get(name) != self._facts.get(name):
                return (
                    f"{WHERE}: {name} differs: {self._members[self._facts_of]} has {self._facts.get(name)!r}, "
                    f"{self._members[rank]} has {facts.get(name)!r}. All workers must have the same."
                )
        return None

    def _hear(self, guest, message):
        kind = message["kind"]
        if kind == "alive":
            guest.count, guest.doing, guest.key = int(message["count"]), str(message["doing"]), str(message["key"])
            guest.tell({"kind": "alive"})
            self._look_for_stuck()
        elif kind == "agree":
            self._agree(str(message["key"]), guest, message["value"])
        elif kind == "who":
            guest.tell({"kind": "who", "counts": {str(i): one.count for i, one in self._guests.items()}})
        elif kind == "bye":
            guest.count, guest.has_left = int(message["count"]), True
            with self._lock:
                said = [key for key, values in self._agreements.items() if guest.rank in values]
            for one in list(self._guests.values()):
                one.tell({"kind": "left", "rank": guest.rank, "count": guest.count, "said": said})
            if guest.rank == 0:
                self._chief_has_left.set()

    def _agree(self, key, guest, value):
        with self._lock:
            values = self._agreements.setdefault(key, {})
            values[guest.rank] = value
            if len(values) < len(self._members):
                return
            del self._agreements[key]
        answer = {"kind": "agreed", "key": key, "values": [values[i] for i in range(len(self._members))]}
        for one in list(self._guests.values()):
            one.tell(answer)

    def _look_for_stuck(self):
        """Fail if all workers wait, and not for the same."""
        with self._lock:
            state = tuple((guest.key, guest.doing) for _, guest in sorted(self._guests.items()))
            ranks = sorted(self._guests)
            now = time.monotonic()
            if state != self._stuck:
                self._stuck, self._stuck_since = state, now
                return
            if now - self._stuck_since < _STUCK_SECONDS or len(state) < len(self._members):
                return
            # Those in one operation will find by themselves that they do not do the same there.
            if not all(doing for _, doing in state) or len({key for key, _ in state}) == 1:
                return
        lines = [f"{self._members[rank]} waits in {doing}" for rank, (_, doing) in zip(ranks, state)]
        self._fail(f"{WHERE}: the workers wait for different things, so none can go on: {'; '.join(lines)}.")

    def _fail(self, message):
        with self._lock:
            if self._failure is not None:
                return
            self._failure = message
            guests = list(self._guests.values())
        for guest in guests:
            guest.tell({"kind": "failed", "message": message})


class Link:
    """A worker's connection to the hub.

    Args:
        members: all workers, in the order of their ranks.
        rank: which one this is.
        connection: to the hub, after both have proved that they know the secret.
        silence: after how many seconds without a word the chief counts as dead.
    """

    def __init__(self, members: list[Member], rank: int, connection: socket.socket, silence: float):
        self.members = members
        self.rank = rank
        self.count = 0  # of operations of all workers that were begun here
        self.doing = self.key = ""  # what this worker waits for: a text, and what all name it by
        self.timeout: float | None = None  # how many seconds to wait for what others say; None for any time
        self.failure: BaseException | None = None
        self._left: dict[int, tuple[int, list]] = {}  # by rank, the count and what it has said that others wait for
        self._connection = connection
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._agreed: dict[str, list] = {}
        self._counts: dict | None = None
        self._has_begun = False
        self._is_closed = False
        self._wakers: set = set()
        connection.settimeout(silence)
        _thread("cluster-link", self._receive)

    def hello(self, facts: dict) -> None:
        """Say who this is."""
        self._send({"kind": "hello", "rank": self.rank, "facts": facts})
        _thread("cluster-beat", self._beat)

    def wait_for_all(self, seconds: float) -> None:
        """Wait until all are there.

        Raises:
            UnavailableError: they did not come.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._has_begun or self.failure is not None, seconds)
        self.raise_failure()
        if not self._has_begun:
            raise errors.unavailable(f"{WHERE}: {self.members[0]} did not answer within {seconds:g} seconds.")

    def agree(self, key: str, value: Any, doing: str = "") -> list:
        """Wait until all workers have said something about a thing; returns what they said, by rank.

        Args:
            key: of the thing.
            value: what this worker says, as JSON knows it.
            doing: what a main thread waits for; nothing for other threads.

        Raises:
            UnavailableError: one has died or left.
        """
        self.say(key, value)
        return self.heard(key, doing)

    def say(self, key: str, value: Any) -> None:
        """The first half of `agree`: say something about a thing."""
        self.raise_failure()
        self._send({"kind": "agree", "key": key, "value": value})

    def heard(self, key: str, doing: str) -> list:
        """The second half: what all have said about it."""
        before = self.doing, self.key
        if doing:
            self.doing, self.key = doing, key
        try:
            with self._changed:
                self._changed.wait_for(
                    lambda: key in self._agreed or self.failure is not None or self._silent(key), self.timeout
                )
                if key in self._agreed:
                    return self._agreed.pop(key)
                silent = self._silent(key)
        finally:
            self.doing, self.key = before
        self.raise_failure()
        if not silent:
            raise errors.deadline_exceeded(
                f"{WHERE}: not all workers came to {doing or key} within {self.timeout:g} seconds (timeout_seconds of "
                "CommunicationOptions)."
            )
        raise self._gone(silent, doing or key)

    def _silent(self, key):
        """The workers that have left without a word about a thing."""
        return sorted(rank for rank, (_, said) in self._left.items() if key not in said)

    def on_change(self, wake) -> None:
        """Have something called when a worker dies or leaves, until `no_more`."""
        self._wakers.add(wake)

    def no_more(self, wake) -> None:
        """The opposite of `on_change`."""
        self._wakers.discard(wake)

    def error_for(self, number: int, doing: str) -> BaseException | None:
        """Why an operation of all workers cannot end; None if it can."""
        if self.failure is not None:
            return self.failure
        gone = sorted(rank for rank, (count, _) in self._left.items() if count < number)
        return self._gone(gone, doing) if gone else None

    def raise_failure(self) -> None:
        """Raise what has ended the training, if something has."""
        if self.failure is not None:
            raise self.failure

    def awaited_failure(self) -> BaseException | None:
        """What has ended the training, of which an error elsewhere was the first sign."""
        with self._changed:
            self._changed.wait_for(lambda: self.failure is not None or self._left, _LONGEST_WAIT)
        return self.failure

    def behind(self, number: int) -> list[Member]:
        """The workers that have not begun an operation yet."""
        with self._changed:
            self._counts = None
            self._send({"kind": "who"})
            self._changed.wait_for(lambda: self._counts is not None or self.failure is not None, 5.0)
            counts = self._counts or {}
        return [member for i, member in enumerate(self.members) if i != self.rank and counts.get(str(i), 0) < number]

    def close(self) -> None:
        """Say that this worker ends."""
        if self._is_closed:
            return
        self._is_closed = True
        with contextlib.suppress(errors.OpError):
            self._send({"kind": "bye", "count": self.count})
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)

    def _gone(self, ranks, doing):
        names = ", ".join(str(self.members[rank]) for rank in ranks)
        return errors.unavailable(
            f"{WHERE}: {names} has ended its program, while {self.members[self.rank]} waits for it in {doing}. All "
            "workers must take the same number of steps."
        )

    def _send(self, fields):
        try:
            with self._sending:
                send(self._connection, fields)
        except OSError as error:
            self.raise_failure()
            raise errors.unavailable(f"{WHERE}: {self.members[0]} cannot be reached: {error}.") from error

    def _beat(self):
        while not self._is_closed and self.failure is None:
            try:
                self._send({"kind": "alive", "count": self.count, "doing": self.doing, "key": self.key})
            except errors.OpError:
                return
            time.sleep(BEAT_SECONDS)

    def _receive(self):
        reason = "has died: its process has ended, or was killed"
        try:
            while (message := receive(self._connection)) is not None:
                self._hear(message)
        except TimeoutError:
            reason = "has not been heard of for a long time"
        except (KeyError, TypeError, ValueError):
            reason = "does not speak this protocol"
        with self._changed:
            if self.failure is None and not self._is_closed and 0 not in self._left:
                self.failure = errors.unavailable(f"{WHERE}: {self.members[0]} {reason}.")
        self._wake()

    def _hear(self, message):
        kind = message["kind"]
        with self._changed:
            if kind == "begin":
                self._has_begun = True
            elif kind == "agreed":
                self._agreed[message["key"]] = list(message["values"])
            elif kind == "who":
                self._counts = dict(message["counts"])
            elif kind == "left":
                self._left[int(message["rank"])] = int(message["count"]), list(message["said"])
            elif kind == "failed" and self.failure is None:
                self.failure = errors.unavailable(str(message["message"]))
        self._wake()

    def _wake(self):
        with self._changed:
            self._changed.notify_all()
        for wake in list(self._wakers):
            wake()


def _thread(name, function, *arguments):
    thread = threading.Thread(target=function, args=arguments, name=name, daemon=True)
    thread.start()
    return thread
