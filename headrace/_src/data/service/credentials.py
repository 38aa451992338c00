"""Who may talk to a data service or to the workers of a training: whoever knows the secret.

A server makes a secret when it starts, and puts it into a file that only its user can read, under a name that it
tells everybody who connects. So programs of the same user on the same machine find it, and those of others do not.
Where programs run as different users, in containers or on several machines, `HEADRACE_SECRET`, or a file that
`HEADRACE_SECRET_FILE` names, gives all of them the same one. The secret itself is never sent: both sides prove that
they know it, so that a reader does not take elements from a stranger at the port either.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import socket
import struct
import time

from headrace._src.core import errors, operating_system, private_files

SECRET_VARIABLE = "HEADRACE_SECRET"
FORMER_VARIABLE = "HEADRACE_SERVICE_SECRET"  # of the data service alone
FILE_VARIABLE = "HEADRACE_SECRET_FILE"
_GREETING = struct.Struct("<4s16s32s")  # letters, the name of the dispatcher, and what must be signed
_REPLY = struct.Struct("<32s32s")  # what must be signed in return, and the signature
_LETTERS = b"HDS2"
_FILE = re.compile(r"service-([0-9a-f]{32})-(\d+)")
_SECONDS = 10.0  # for the first words of a connection
WHERE = "data.experimental.service"


def given_secret(where: str = WHERE) -> bytes | None:
    """The secret that a variable or a file gives; None if none does.

    Raises:
        FailedPreconditionError: the file cannot be read, is empty, or others can read it.
    """
    found = os.environ.get(SECRET_VARIABLE) or os.environ.get(FORMER_VARIABLE)
    if found:
        return found.encode()
    path = os.environ.get(FILE_VARIABLE)
    if not path:
        return None
    try:
        secret = private_files.read(os.path.realpath(path), secret=True).strip()
    except (OSError, private_files.NotPrivate) as error:
        raise errors.failed_precondition(f"{where}: the secret in {FILE_VARIABLE} cannot be used: {error}.") from error
    if not secret:
        raise errors.failed_precondition(f"{where}: the file {path!r}, which {FILE_VARIABLE} names, is empty.")
    return secret


class Credentials:
    """The name and the secret of a server.

    Args:
        name: 16 bytes, known to everybody.
        secret: known to those who may.
        path: the file in which it is, of those who made it.
    """

    def __init__(self, name: bytes, secret: bytes, path: str | None = None):
        self.name = name
        self._secret = secret
        self._path = path

    @classmethod
    def new(cls, where: str = WHERE) -> Credentials:
        """Those of a server that starts.

        Args:
            where: what it belongs to, for messages.

        Raises:
            FailedPreconditionError: the secret cannot be kept from others.
        """
        name = secrets.token_bytes(16)
        given = given_secret(where)
        if given:
            return cls(name, given)
        secret = secrets.token_bytes(32)
        try:
            folder = private_files.runtime_folder()
            _forget_the_dead(folder)
            path = os.path.join(folder, f"service-{name.hex()}-{os.getpid()}")
            private_files.write(path, secret)
        except (OSError, private_files.NotPrivate) as error:
            raise errors.failed_precondition(
                f"{where}: the secret of the server cannot be kept: {error}. Set XDG_RUNTIME_DIR to a folder of "
                f"your own, or {SECRET_VARIABLE} to a secret, in all programs that take part."
            ) from error
        return cls(name, secret, path)

    @classmethod
    def found(cls, name: bytes, address: str, where: str = WHERE) -> Credentials:
        """Those of a server of another program.

        Raises:
            UnauthenticatedError: the secret is not known to this user.
        """
        given = given_secret(where)
        if given:
            return cls(name, given)
        try:
            folder = private_files.runtime_folder()
            (file,) = [file for file in os.listdir(folder) if file.startswith(f"service-{name.hex()}-")]
            return cls(name, private_files.read(os.path.join(folder, file), secret=True))
        except (OSError, ValueError, private_files.NotPrivate):
            raise errors.unauthenticated(
                f"{where}: this program does not know the secret of the server at {address}: it runs as another user, "
                f"on another machine or in a container of its own. Set {SECRET_VARIABLE} to the same in all programs."
            ) from None

    def forget(self) -> None:
        """The server has ended."""
        if self._path is not None:
            try:
                os.unlink(self._path)
            except OSError:
                pass
            self._path = None

    def _signed(self, who, *parts):
        return hmac.digest(self._secret, b"".join([who, self.name, *parts]), hashlib.sha256)

    def admit(self, connection: socket.socket) -> bool:
        """Find out whether who has connected knows the secret, and show that this side does."""
        connection.settimeout(_SECONDS)
        asked = secrets.token_bytes(32)
        connection.sendall(_GREETING.pack(_LETTERS, self.name, asked))
        asked_back, signature = _REPLY.unpack(_exactly(connection, _REPLY.size))
        if not hmac.compare_digest(signature, self._signed(b"client", asked, asked_back)):
            return False
        connection.sendall(self._signed(b"server", asked_back, asked))
        connection.settimeout(None)
        return True


def introduce(connection: socket.socket, address: str, where: str = WHERE) -> Credentials:
    """Prove to a server that this program knows the secret, and have it prove the same.

    Args:
        connection: to the server.
        address: where it is, for messages.
        where: what it belongs to, for messages.

    Raises:
        UnauthenticatedError: one of them does not.
        OSError: the connection was closed.
    """
    connection.settimeout(_SECONDS)
    letters, name, asked = _GREETING.unpack(_exactly(connection, _GREETING.size))
    if letters != _LETTERS:
        raise errors.unauthenticated(f"{where}: what listens at {address} is no server of headrace.")
    credentials = Credentials.found(name, address, where)
    asked_back = secrets.token_bytes(32)
    connection.sendall(_REPLY.pack(asked_back, credentials._signed(b"client", asked, asked_back)))
    try:
        signature = _exactly(connection, 32)
    except ConnectionError:
        signature = b""
    if not hmac.compare_digest(signature, credentials._signed(b"server", asked_back, asked)):
        raise errors.unauthenticated(
            f"{where}: the server at {address} has another secret than this program. Is {SECRET_VARIABLE} the same for "
            "both?"
        )
    connection.settimeout(None)
    return credentials


def _exactly(connection, size):
    data = b""
    until = time.monotonic() + _SECONDS  # for all of them: a stranger may send one byte at a time
    while len(data) < size:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the first words took too long")
        connection.settimeout(left)
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionResetError("the connection was closed during the first words")
        data += part
    return data


def _forget_the_dead(folder):
    """Remove the files of dispatchers that were killed."""
    for file in os.listdir(folder):
        found = _FILE.fullmatch(file)
        if found is not None and not operating_system.is_running(int(found[2])):
            with contextlib.suppress(OSError):  # another dispatcher was first
                os.unlink(os.path.join(folder, file))
