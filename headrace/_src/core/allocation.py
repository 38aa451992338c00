"""How memory for large arrays is kept for the next array.

The C library gives each array above 128 kB back to the system when it is freed, and asks for fresh pages for the next
one; writing these for the first time costs several times what the arithmetic on them does. See
docs/decisions/0024-memory.md.
"""

import ctypes
import os
import sys

# Of <malloc.h> of the GNU C library.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Arrays up to this many bytes come from memory that is kept, of which at most so much lies free at the end.
_LARGEST_KEPT, _FREE_AT_MOST = 32 << 20, 256 << 20


def keep_freed_memory() -> bool:
    """Let freed memory of arrays be used again; whether this system can be told so.

    `HEADRACE_KEEP_MEMORY=0` in the environment leaves the C library as it is.
    """
    if not sys.platform.startswith("linux") or os.environ.get("HEADRACE_KEEP_MEMORY") == "0":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT) and mallopt(_TRIM_THRESHOLD, _FREE_AT_MOST))
