"""A new version is called as the one before it was, before it takes over: its programs are compiled by then.

Otherwise the first clients of each version would wait for the interpreter. Signatures that change something are left
out: nobody has asked for these calls.
"""

from __future__ import annotations

import time

from headrace._src.core import errors
from headrace._src.graph.building.effects import has_effect
from headrace._src.graph.building.operation import called_graphs
from headrace._src.op.traits import READS_RESOURCE
from headrace._src.serving.servables import Servable, ServedSignature

_CALLS = 12  # with each shape: a program is ordered at the second, and tried in some more
_PAUSE = 0.02


def rehearse(servable: Servable, previous: Servable, seconds: float = 10.0) -> int:
    """Call a version as another one was.

    Args:
        servable: the new version.
        previous: the version that answers now.
        seconds: how long that may take.

    Returns:
        How many calls there were.
    """
    count, end = 0, time.monotonic() + seconds
    for name, signature in servable.signatures.items():
        known = previous.signatures.get(name)
        for arrays in list(known.recent.values()) if known is not None and changes_nothing(signature) else ():
            for _ in range(_CALLS):
                if time.monotonic() > end or not _call(signature, arrays):
                    break
                count += 1
                while signature.is_being_compiled and time.monotonic() < end:
                    time.sleep(_PAUSE)
    return count


def _call(signature, arrays):
    try:
        signature.call(signature.checked(arrays))
    except errors.OpError:  # what the old version takes may be wrong for the new one
        return False
    return True


def changes_nothing(signature: ServedSignature) -> bool:
    """Whether calls of a signature leave everything as it is."""
    waiting, seen = [signature.graph], set()
    while waiting:
        graph = waiting.pop()
        if graph is None:
            return False
        if id(graph) in seen:
            continue
        seen.add(id(graph))
        for node in graph.nodes:
            inner = called_graphs(node.attrs)
            waiting.extend(inner)
            if not inner and has_effect(node) and READS_RESOURCE not in node.record.traits:
                return False
    return True
