"""The process that compiles: reads blocks from its input, writes programs to its output, one after the other.

It is started with `python -m` and knows nothing of the program that started it. It ends when its input does.
"""

import os
import pickle
import struct
import sys
import traceback

from headrace._src.core import operating_system
from headrace._src.graph.compiling.lowering import CannotLower

# How a message begins: its length.
HEADER = struct.Struct("<Q")
# The first message of the process: what ends it from now on is what it is asked for.
READY = b"ready"


def write_message(file: int, data: bytes):
    """Write bytes that `read_message` finds again."""
    rest = memoryview(HEADER.pack(len(data)) + data)
    while rest:
        rest = rest[os.write(file, rest) :]


def read_message(file: int) -> bytes | None:
    """The next message; None at the end of the file."""
    header = _read(file, HEADER.size)
    return None if header is None else _read(file, *HEADER.unpack(header))


def _read(file, length):
    parts = []
    while length:
        part = os.read(file, min(length, 1 << 20))
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def answer(request: bytes) -> bytes:
    """The program for a pickled (block, signature), or why there is none, pickled."""
    try:
        block, signature = pickle.loads(request)
        result = signature.build(block)
    except CannotLower as error:
        result = error
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        result = f"{text}\n{traceback.format_exc()}"
    return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)


def main():
    """Serve until the input ends, with a lower priority, if the command says so."""
    operating_system.lower_priority(int(sys.argv[1]))
    results = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not disturb the messages
    write_message(results, READY)
    while True:
        request = read_message(0)
        if request is None:
            return
        write_message(results, answer(request))


if __name__ == "__main__":
    main()
