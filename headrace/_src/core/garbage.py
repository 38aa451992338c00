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


@contextlib.contextmanager
def lasting_objects() -> Iterator[None]:
    """The same for imports of large packages, whose objects stay until the end.

    They are not looked through afterwards, either: that would come with the next few objects that somebody makes, and
    hold up every thread meanwhile. All objects that there are become old ones, which are looked through when a quarter
    as many have been added. It takes no time, since lists of objects are joined.
    """
    with collection_paused():
        try:
            yield
        finally:
            if hasattr(gc, "freeze") and not gc.get_freeze_count():  # what a program has frozen stays so
                gc.freeze()
                gc.unfreeze()
