"""Pauses in the collection of garbage, for work that makes many objects that all stay."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """While the block runs, Python does not look for cycles of garbage, which takes longer with each object made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
