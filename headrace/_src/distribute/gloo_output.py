"""Keeping what gloo says about its connections off the standard output of a user's program."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_STANDARD_OUTPUT = 1
_GLOO = b"[Gloo] "


@contextlib.contextmanager
def without_gloos_lines() -> Iterator[None]:
    """Within this block, lines of gloo do not reach standard output; all that others write there does.

    Gloo writes to the descriptor itself, so it is a pipe meanwhile, of which a thread passes the other lines on.
    """
    try:
        original = os.dup(_STANDARD_OUTPUT)
    except OSError:  # the program has none
        yield
        return
    reader, writer = os.pipe()
    passing = threading.Thread(target=_pass_on, args=(reader, original), name="gloo-output", daemon=True)
    _flush()
    os.dup2(writer, _STANDARD_OUTPUT)
    os.close(writer)
    passing.start()

    def put_back():
        atexit.unregister(put_back)
        _flush()
        os.dup2(original, _STANDARD_OUTPUT)
        passing.join(1.0)  # longer only if a process that was started meanwhile still writes to the pipe

    atexit.register(put_back)  # the block never ends if another worker dies in it
    try:
        yield
    finally:
        put_back()


def _flush():
    # What Python still keeps goes where it was meant to go.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()


def _pass_on(reader, original):
    with open(reader, "rb") as lines, open(original, "wb", buffering=0) as output:
        for line in lines:
            if not line.startswith(_GLOO):
                with contextlib.suppress(OSError):
                    output.write(line)
