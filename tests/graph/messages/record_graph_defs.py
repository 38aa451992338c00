"""Hands graphs from one side to the other, for `scripts/golden_graph_defs`.

    record_graph_defs.py export FOLDER     with headrace: trace the programs, write their graphs
    record_graph_defs.py run FOLDER        with TensorFlow: run these graphs, write the results
    record_graph_defs.py trace FOLDER      with TensorFlow: trace the programs, write graphs and results
"""

import json
import pathlib
import sys

import numpy as np
from graph_def_programs import PROGRAMS, UNKNOWN

ROOT = pathlib.Path(__file__).resolve().parents[3]


def traced(tf, name):
    """The concrete function of a program, its inputs, and its variables."""
    function, inputs, variables = PROGRAMS[name](tf)
    shapes = [[None] * x.ndim if name in UNKNOWN else x.shape for x in inputs]
    kinds = [tf.string if x.dtype == object else tf.as_dtype(x.dtype) for x in inputs]
    specs = [tf.TensorSpec(shape, kind) for shape, kind in zip(shapes, kinds)]
    return tf.function(function).get_concrete_function(*specs), inputs, variables


def described(concrete, variables):
    """What someone who has only the graph must know to run it."""
    count = len(concrete.inputs) - len(concrete.captured_inputs)
    captured = []
    for outer, inner in zip(concrete.captured_inputs, concrete.inputs[count:]):
        (position,) = [i for i, v in enumerate(variables) if v.handle is outer]
        captured.append([inner.name, position])
    return {
        "inputs": [tensor.name for tensor in concrete.inputs[:count]],
        "outputs": [tensor.name for tensor in concrete.outputs],
        "variables": captured,
    }


def save_results(path, results):
    """`{program: [arrays]}` as one file; strings as fixed-size ones."""
    arrays = {}
    for name, values in results.items():
        for i, value in enumerate(values):
            value = np.asarray(value)
            arrays[f"{name}/{i}"] = np.array(value.tolist(), "S") if value.dtype == object else value
    np.savez_compressed(path, **arrays)


def export(folder):
    sys.path.insert(0, str(ROOT))
    import headrace as tf
    from headrace._src.graph.building.effects import has_effect

    about = {}
    for name in PROGRAMS:
        concrete, _, variables = traced(tf, name)
        graph = concrete.graph
        about[name] = described(concrete, variables)
        about[name]["effects"] = [node.name for node in graph.nodes if has_effect(node)]
        about[name]["initial"] = [[v.dtype.name, v.numpy().tolist()] for v in variables]
        (folder / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    (folder / "graphs.json").write_text(json.dumps(about, indent=1) + "\n")


def run(folder):
    import tensorflow as tf

    v1 = tf.compat.v1
    about, results = json.loads((folder / "graphs.json").read_text()), {}
    for name, one in about.items():
        _, inputs, _ = PROGRAMS[name](tf)
        graph_def = v1.GraphDef.FromString((folder / f"{name}.pb").read_bytes())
        with tf.Graph().as_default(), v1.Session() as session:
            variables = [v1.Variable(np.array(value, kind), use_resource=True) for kind, value in one["initial"]]
            for v in variables:
                session.run(v.initializer)
            names = [*one["inputs"], *one["outputs"], *one["effects"]]
            mapped = {key: variables[i].handle for key, i in one["variables"]}
            found = tf.import_graph_def(graph_def, input_map=mapped, return_elements=names, name="")
            count, last = len(one["inputs"]), len(one["inputs"]) + len(one["outputs"])
            # Outputs and effects in one step, as in a call of the function.
            values = session.run([*found[count:last], found[last:]], dict(zip(found, inputs)))
            results[name] = [*values[:-1], *(session.run(v) for v in variables)]
    save_results(folder / "results.npz", results)


def trace(folder):
    import tensorflow as tf

    about, results = {}, {}
    for name in PROGRAMS:
        concrete, inputs, variables = traced(tf, name)
        about[name] = described(concrete, variables)
        (folder / f"{name}.pb").write_bytes(concrete.graph.as_graph_def().SerializeToString(deterministic=True))
        outputs = concrete(*[tf.constant(x) for x in inputs])
        results[name] = [x.numpy() for x in (*tf.nest.flatten(outputs), *variables)]
    save_results(folder / "results.npz", results)
    (folder / "graphs.json").write_text(json.dumps(about, indent=1) + "\n")
    (folder / "messages.json").write_text(json.dumps(messages(), indent=1) + "\n")


def messages():
    """The fields of the messages that graphs are made of: name to [number, kind, message or enum, label, choice]."""
    sys.path.insert(0, str(ROOT / "tests" / "formats"))
    from message_fields import described_fields
    from tensorflow.core.framework import graph_pb2, op_def_pb2
    from tensorflow.core.protobuf import struct_pb2

    found = {}
    waiting = [graph_pb2.GraphDef, op_def_pb2.OpList, struct_pb2.TensorSpecProto]
    waiting = [message.DESCRIPTOR for message in waiting]
    while waiting:
        message = waiting.pop()
        if message.full_name not in found:
            found[message.full_name] = described_fields(message)
            waiting += [field.message_type for field in message.fields if field.message_type is not None]
    return dict(sorted(found.items()))


if __name__ == "__main__":
    what, folder = sys.argv[1:]
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    {"export": export, "run": run, "trace": trace}[what](pathlib.Path(folder))
