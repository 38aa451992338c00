"""The random numbers of functions in pipelines: where each operation has got to in its stream.

TF: each walk through a dataset has streams of its own, which begin anew with it. They are kept in a `Site` of the walk,
one inside it for each function. Since a walk may stop and go on elsewhere, streams can be saved; and since calls of a
function may run at the same time, each gets copies that stand where the calls before it will have left them.
"""

from __future__ import annotations

from typing import Any

from headrace._src.core.random_state import Site, Stream
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import called_graphs, is_stateful
from headrace._src.op.traits import PLAIN_CALL


def draws_the_same(graph) -> bool:
    """Whether each call of a graph draws equally many random numbers, and has no other effect."""
    for node in graph.nodes:
        record = node.record
        if record is PLACEHOLDER or not is_stateful(node):
            continue
        if PLAIN_CALL in record.traits:
            if not all(draws_the_same(inner) for inner in called_graphs(node.attrs)):
                return False
        elif not record.draws:
            return False
        elif not all(output.shape.is_fully_defined() for output in node.outputs):
            return False
    return True


def copied(site: Site) -> Site:
    """A site whose streams stand at the same places, and go on independently."""
    copy = Site(site.epoch)
    for node, (epoch, streams) in site.streams.items():
        copy.streams[node] = (epoch, {key: _copied(stream) for key, stream in streams.items()})
    for call, inner in site.inner.items():
        copy.inner[call] = copied(inner)
    return copy


def _copied(stream: Stream) -> Stream:
    copy = Stream(stream.seed, stream.seed2)
    copy.seed, copy.seed2, copy.used = stream.seed, stream.seed2, stream.used
    return copy


def positions(site: Site, path: tuple = ()) -> dict:
    """Each stream of a site, by the calls and the operation that lead to it."""
    found = {(*path, node, key): s for node, (_, streams) in site.streams.items() for key, s in streams.items()}
    for call, inner in site.inner.items():
        found.update(positions(inner, (*path, call)))
    return found


def steps(before: Site, after: Site) -> dict:
    """How far each stream went between two times."""
    start = positions(before)
    return {
        path: stream.used - (start[path].used if path in start else 0) for path, stream in positions(after).items()
    }


def advance(site: Site, distance: dict):
    """Let the streams stand as if one more call had drawn from them."""
    for path, stream in positions(site).items():
        stream.used += distance[path]


# Saving.


def _named(graphs: list, prefix: str = "") -> dict:
    """All operations that draw from the streams of one site: those of graphs, and of their branches and loops."""
    named = {}
    for i, graph in enumerate(graphs):
        for node in graph.nodes:
            name = f"{prefix}{i}/{node.name}"
            named[name] = node
            if node.record.calls_functions and PLAIN_CALL not in node.record.traits:
                named.update(_named(called_graphs(node.attrs), name + "/"))
    return named


def saved(site: Site, graphs: list) -> dict:
    """Where the streams of a site stand, in dicts, lists, strings and numbers.

    Args:
        site: where they are.
        graphs: those whose operations draw from them.
    """
    names = {id(node): name for name, node in _named(graphs).items()}
    streams = {}
    for node, (_, found) in site.streams.items():
        streams[names[id(node)]] = [[*key, s.seed, s.seed2, s.used] for key, s in found.items()]
    inner = {names[id(call)]: saved(part, called_graphs(call.attrs)) for call, part in site.inner.items()}
    return {"streams": streams, "inner": inner}


def restored(state: dict, graphs: list, epoch: int) -> Site:
    """The site that `saved` was told of."""
    nodes = _named(graphs)
    site = Site(epoch)
    for name, entries in state["streams"].items():
        streams: dict[Any, Stream] = {}
        for *key, seed, seed2, used in entries:
            stream = streams[tuple(key)] = Stream(seed, seed2)
            stream.seed, stream.seed2, stream.used = seed, seed2, used
        site.streams[nodes[name]] = (epoch, streams)
    for name, part in state["inner"].items():
        site.inner[nodes[name]] = restored(part, called_graphs(nodes[name].attrs), epoch)
    return site
