"""Damaged graphs: importing one gives a graph or a typed error, and nothing else."""

import pathlib
import random

import pytest
from google.protobuf.message import DecodeError

import headrace as tf
from headrace._src.formats.graph_messages import GraphDef

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "golden" / "graph_defs"
FILES = sorted(FOLDER.glob("*/*.pb"))
NUMBERS = (-(2**63), -3, -1, 0, 7, 2**31, 2**62)


def flip_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return GraphDef.FromString(bytes(data))


def change_fields(rng, data):
    proto = GraphDef.FromString(data)
    functions = proto.library.function
    nodes = [*proto.node, *(node for function in functions for node in function.node_def)]
    for _ in range(rng.randrange(1, 3)):
        node, other = rng.choice(nodes), rng.choice(nodes)
        rng.choice([_input, _attribute, _op, _number, _function])(rng, node, other, functions)
    return proto


def _input(rng, node, other, functions):
    name = other.name + rng.choice(["", ":0", ":1", ":output:0", ":z:0", ":-1", ":99999999999999999999"])
    if node.input and rng.random() < 0.5:
        node.input[rng.randrange(len(node.input))] = name
    elif node.input and rng.random() < 0.5:
        del node.input[0]
    else:
        node.input.append(name)


def _attribute(rng, node, other, functions):
    if node.attr and other.attr:
        name = rng.choice(sorted(node.attr))
        if rng.random() < 0.5:
            del node.attr[name]
        else:
            node.attr[name].CopyFrom(other.attr[rng.choice(sorted(other.attr))])


def _op(rng, node, other, functions):
    node.op = other.op


def _number(rng, node, other, functions):
    for value in node.attr.values():
        kind = value.WhichOneof("value")
        if kind == "i":
            value.i = rng.choice(NUMBERS)
        elif kind == "type":
            value.type = rng.choice([-5, 0, 1, 3, 7, 20, 21, 99, 101])
        elif kind == "shape":
            value.shape.dim.add(size=rng.choice(NUMBERS))
        elif kind == "tensor":
            value.tensor.tensor_shape.dim.add(size=rng.choice(NUMBERS))
        elif kind == "s":
            value.s = rng.choice([b"", b"\xff\xfe", b"SAME"])
        elif kind == "list" and value.list.type:
            value.list.type.append(3)


def _function(rng, node, other, functions):
    if not functions:
        return
    function = rng.choice(functions)
    signature = function.signature
    kind = rng.randrange(5)
    if kind == 0 and signature.input_arg:
        del signature.input_arg[0]
    elif kind == 1 and signature.output_arg:
        function.ret[signature.output_arg[0].name] = rng.choice(["", "x", ":", ":::", "a:b:c"])
    elif kind == 2:
        signature.name = rng.choice(functions).signature.name
    elif kind == 3 and signature.input_arg:
        signature.input_arg[0].type = rng.choice([0, 1, 3, 21, 77])
    else:
        for value in node.attr.values():
            if value.WhichOneof("value") == "func":
                value.func.name = rng.choice(functions).signature.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_import(path):
    rng, data, outcomes = random.Random(path.stem), path.read_bytes(), set()
    for turn in range(24):
        damage = flip_bytes if turn % 4 == 0 else change_fields
        try:
            proto = damage(rng, data)
        except DecodeError:
            continue  # protobuf's own error
        try:
            with tf.Graph().as_default():
                tf.import_graph_def(proto)
        except (ValueError, TypeError, tf.errors.OpError) as error:
            outcomes.add(str(error))
    assert outcomes  # the damage is real
    assert "" not in outcomes
