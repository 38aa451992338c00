"""The part of `headrace launch` in each worker: it gets the secret, and ends when the launcher does."""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time

from headrace._src.core import operating_system

_SECONDS = 5.0  # for a program that is interrupted to end by itself
_ENDED = 143


def begin() -> None:
    """Read the secret from standard input, which stays open as long as the launcher lives."""
    stream, sys.stdin = sys.stdin, open(os.devnull, encoding="utf-8")
    secret = stream.readline().strip()
    if secret:
        os.environ["HEADRACE_SECRET"] = secret
    pinned = os.environ.pop("HEADRACE_PINNED", None)
    if pinned is not None:
        operating_system.keep_to_processor(int(pinned))
    threading.Thread(target=_end_with, args=(stream,), name="launcher", daemon=True).start()


def _end_with(stream):
    while stream.readline():
        pass
    _thread.interrupt_main()
    time.sleep(_SECONDS)
    os._exit(_ENDED)
