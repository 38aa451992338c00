"""The process that compiles: reads blocks from its input, writes programs to its output, one after the other.

It is started with `python -m` and knows nothing of the program that started it. It ends when its input does.
"""

import os
import pickle
import struct
import sys
import traceback

from headrace._src.graph.lowering import CannotLower
from headrace._src.graph.programs import build

# How a message begins: its length.
HEADER = struct.Struct("<Q")


def write_message(stream, data: bytes):
    """Write bytes that `read_message` finds again."""
    stream.write(HEADER.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_message(stream) -> bytes | None:
    """The next message; None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    data = stream.read(length)
    return data if len(data) == length else None


def answer(request: bytes) -> bytes:
    """The program for a pickled (block, signature), or why there is none, pickled."""
    try:
        block, signature = pickle.loads(request)
        result = build(block, signature)
    except CannotLower as error:
        result = error
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        result = f"{text}\n{traceback.format_exc()}"
    return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)


def main():
    """Serve until the input ends."""
    if hasattr(os, "nice"):
        os.nice(10)
    requests = sys.stdin.buffer
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not disturb the messages
    while True:
        request = read_message(requests)
        if request is None:
            return
        write_message(results, answer(request))


if __name__ == "__main__":
    main()
