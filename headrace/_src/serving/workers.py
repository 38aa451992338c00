"""Several processes that serve together: they listen at the same ports, and one that ends is started again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from headrace._src.core import errors, network, operating_system
from headrace._src.serving.sharing import SharedFolder

logger = logging.getLogger("headrace.serving")
_LOOK = 0.05  # seconds between two looks at whether all answer
_SHORT = 5.0  # a process that ends sooner after its start is started again only after a while
_PAUSE = 1.0
_GRACE = 40.0  # seconds that processes have to end: more than requests have


class Workers:
    """Keeps processes running.

    Args:
        arguments: of `headrace serve`, for each of them.
        count: how many.
        folder: where the shared folder is made; "" for memory.
    """

    def __init__(self, arguments: Sequence[str], count: int, folder: str = ""):
        self._arguments = list(arguments)
        self._count = count
        self._place = folder or operating_system.memory_folder()
        self._processes: dict[int, Any] = {}
        self._ending: asyncio.Event | None = None
        self._have_been_up = False
        self._failed = 0

    def run(self, when_up: Callable[[], Any]) -> int:
        """Serve until SIGINT or SIGTERM comes.

        Args:
            when_up: called when all processes answer.

        Returns:
            An exit code: that of a process that could not begin, or 0.
        """
        folder = tempfile.mkdtemp(prefix="headrace-serving-", dir=self._place)
        try:
            return asyncio.run(self._run(folder, when_up))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _run(self, folder, when_up):
        self._ending = asyncio.Event()
        operating_system.when_asked_to_end(asyncio.get_running_loop(), self._ending.set)
        keepers = [asyncio.create_task(self._keep(number, folder)) for number in range(self._count)]
        announcing = asyncio.create_task(self._announce(SharedFolder(folder), when_up))
        await self._ending.wait()
        announcing.cancel()
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        _, late = await asyncio.wait(keepers, timeout=_GRACE)
        for process in self._processes.values() if late else ():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await asyncio.gather(*keepers)
        return self._failed

    async def _keep(self, number, folder):
        while not self._ending.is_set():
            begun = time.monotonic()
            # They end when this process does, however it ends: then nobody holds the other end of their input.
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "headrace", "serve", *self._arguments, f"--worker_folder={folder}",
                f"--worker_number={number}", stdin=asyncio.subprocess.PIPE,
            )  # fmt: skip
            self._processes[number] = process
            if self._ending.is_set():  # while it was started
                process.terminate()
            code = await process.wait()
            if self._ending.is_set():
                return
            if not self._have_been_up:  # the next one would fail alike
                self._failed = code or 1
                self._ending.set()
                return
            logger.error("Process %d %s; it is started again.", number, operating_system.text_of_exit(code))
            if time.monotonic() - begun < _SHORT:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), _PAUSE)

    async def _announce(self, shared, when_up):
        waiting = set(range(self._count))
        while waiting:
            await asyncio.sleep(_LOOK)
            waiting = {
                number for number in waiting
                if number not in self._processes or not shared.is_up(number, self._processes[number].pid)
            }  # fmt: skip
        self._have_been_up = True
        when_up()


def check_ports(host: str, *ports: int | None) -> None:
    """That nobody listens at some ports: processes that share them would not notice another server.

    Raises:
        UnavailableError: somebody does.
        UnimplementedError: processes of this system cannot share ports.
    """
    if not operating_system.shares_ports():
        raise errors.unimplemented("--workers: processes of this operating system cannot listen at the same port.")
    for port in ports:
        if port is not None:
            try:
                network.listener(host, port, "serving").close()
            except OSError as error:
                raise errors.unavailable(f"Nobody can listen at {host}:{port}: {error}") from None


def end_with_parent(end: Callable[[], Any]) -> None:
    """Wait for the end of the input, which the process that started this one holds open; then call a function."""
    with contextlib.suppress(OSError, ValueError):
        # Not by `sys.stdin`, whose lock a thread that waits here would hold while the process ends.
        while os.read(sys.stdin.fileno(), 1 << 10):
            pass
    end()
