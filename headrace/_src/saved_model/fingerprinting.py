"""The fingerprint of a SavedModel that is written: hashes of its parts, which tell it from others."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Any

import numpy as np

from headrace._src.formats.model_messages import FingerprintDef
from headrace._src.ops.strings.hashing import fingerprint64

_VERSION = 5  # of the way in which hashes are computed


def fingerprint_of(meta_graph: Any, contents: bytes, index: bytes | None) -> Any:
    """A `FingerprintDef`. Numbers in names of functions, which only count what a process has made, do not matter.

    Args:
        meta_graph: the `MetaGraphDef`.
        contents: the bytes of the file `saved_model.pb`.
        index: the bytes of the index of the checkpoint; None without one.
    """
    fingerprint = FingerprintDef(saved_model_checksum=_digest([contents]))
    names = _plain_names(meta_graph.graph_def.library)
    fingerprint.graph_def_program_hash = _digest(_parts_of_graph(meta_graph.graph_def, names))
    signatures = meta_graph.signature_def
    fingerprint.signature_def_hash = _digest(key.encode() + _bytes(signatures[key]) for key in sorted(signatures))
    fingerprint.saved_object_graph_hash = _digest(_parts_of_objects(meta_graph.object_graph_def, names))
    if index is not None:
        fingerprint.checkpoint_hash = int(fingerprint64(np.frombuffer(index, np.uint8)[None])[0])
    fingerprint.uuid = str(secrets.randbits(128))
    fingerprint.version.producer = _VERSION
    return fingerprint


def _digest(parts):
    # Of all but the checkpoint it does not matter which hash it is, and TensorFlow's own would take long.
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return int.from_bytes(digest.digest(), "little")


def _bytes(message):
    return message.SerializeToString(deterministic=True)


def _plain_names(library) -> dict[str, str]:
    """For functions with numbers in their names, names with numbers that begin at 0."""
    counts: dict[str, int] = {}
    found = {}
    numbered = [re.fullmatch(r"(.*?)_?(\d+)_*", function.signature.name) for function in library.function]
    for match in sorted((x for x in numbered if x), key=lambda x: (x[1], int(x[2]))):
        number = counts[match[1]] = counts.get(match[1], -1) + 1
        found[match[0]] = f"{match[1]}#{number}"
    return found


def _renamed(message, used, names):
    """The bytes of a message, or its text with plain names if it names functions: bytes count the letters of names."""
    used = [name for name in used if name in names]
    if not used:
        return _bytes(message)
    text = str(message)
    for name in sorted(used, key=len, reverse=True):
        text = text.replace(name, names[name])
    return text.encode()


def _called(nodes):
    for node in nodes:
        for value in node.attr.values():
            if value.HasField("func"):
                yield value.func.name
            yield from (function.name for function in value.list.func)


def _parts_of_graph(graph, names):
    for function in sorted(graph.library.function, key=lambda x: names.get(x.signature.name, x.signature.name)):
        yield _renamed(function, {function.signature.name, *_called(function.node_def)}, names)
    for node in graph.node:
        yield _renamed(node, set(_called([node])), names)


def _parts_of_objects(objects, names):
    for node in objects.nodes:
        kind = node.WhichOneof("kind")
        used: set[str] = set()
        if kind == "function":
            used.update(node.function.concrete_functions)
        elif kind == "bare_concrete_function":
            used.add(node.bare_concrete_function.concrete_function_name)
        elif kind == "captured_tensor":
            used.add(node.captured_tensor.concrete_function)
        yield _renamed(node, used, names)
    for name in sorted(objects.concrete_functions, key=lambda x: names.get(x, x)):
        yield names.get(name, name).encode()
        yield _bytes(objects.concrete_functions[name])
