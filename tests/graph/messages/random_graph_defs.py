"""Graphs of the random programs of tests/programs: written by headrace, run by TensorFlow.

    random_graph_defs.py export FILE FIRST LAST     with headrace: trace and run programs, write graphs and results
    random_graph_defs.py run FILE                   with TensorFlow: run the graphs, say which results differ
"""

import pathlib
import pickle
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
for folder in (ROOT, ROOT / "tests" / "programs"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def record(tf, seed) -> dict:
    """The graph of a program, how to run it, and what headrace makes of it."""
    from generator import arguments_of, function_of

    from headrace._src.graph.building.effects import has_effect

    program, given = function_of(seed, True), arguments_of(seed)
    variables = [tf.Variable(given[name], dtype=tf.float32) for name in "vw"]
    initial = [v.numpy() for v in variables]
    inputs = [np.array(given[name], np.float32) for name in "xy"] + [np.array(given[name], np.int32) for name in "in"]

    def body(x, y, i, n):
        return program(tf, x, y, i, n, *variables)

    concrete = tf.function(body).get_concrete_function(*[tf.TensorSpec(x.shape, tf.as_dtype(x.dtype)) for x in inputs])
    handles = {id(v.handle): i for i, v in enumerate(variables)}
    names, captured, arguments = [x.name for x in concrete.inputs[: len(inputs)]], [], list(inputs)
    for outer, inner in zip(concrete.captured_inputs, concrete.inputs[len(inputs) :], strict=True):
        if id(outer) in handles:
            captured.append([inner.name, handles[id(outer)]])
        else:
            names.append(inner.name)
            arguments.append(outer.numpy())
    found = {
        "seed": seed,
        "graph_def": concrete.graph.as_graph_def().SerializeToString(),
        "inputs": names,
        "outputs": [tensor.name for tensor in concrete.outputs],
        "effects": [node.name for node in concrete.graph.nodes if has_effect(node)],
        "variables": captured,
        "initial": initial,
        "arguments": arguments,
    }
    try:
        found["values"] = [np.asarray(x) for x in tf.nest.flatten(concrete(*map(tf.constant, inputs)))]
    except tf.errors.OpError as error:
        found["error"] = str(error)
    found["final"] = [v.numpy() for v in variables]
    return found


def export(path, first, last):
    import headrace as tf

    pathlib.Path(path).write_bytes(pickle.dumps([record(tf, seed) for seed in range(int(first), int(last))]))


def outcome(tf, one):
    """What TensorFlow makes of a graph: values or error, and the variables afterwards."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [v1.Variable(value, use_resource=True) for value in one["initial"]]
        session.run([v.initializer for v in variables])
        names = [*one["inputs"], *one["outputs"], *one["effects"]]
        found = tf.import_graph_def(
            v1.GraphDef.FromString(one["graph_def"]), return_elements=names, name="",
            input_map={name: variables[i].handle for name, i in one["variables"]},
        )  # fmt: skip
        count, last = len(one["inputs"]), len(one["inputs"]) + len(one["outputs"])
        result = {}
        try:
            values, _ = session.run([found[count:last], found[last:]], dict(zip(found, one["arguments"])))
            result["values"] = [np.asarray(x) for x in values]
        except tf.errors.OpError as error:
            result["error"] = str(error)
        result["final"] = session.run(variables)
    return result


def difference(one, other) -> str:
    """What differs between two outcomes; empty when they agree.

    After an error, variables may differ: TensorFlow does not stop what does not depend on the operation that failed.
    """
    if ("error" in one) != ("error" in other):
        return f"{one.get('error')} against {other.get('error')}"
    if "error" in one:
        return ""
    for a, b in zip([*one["values"], *one["final"]], [*other["values"], *other["final"]], strict=True):
        if a.dtype != b.dtype or a.shape != b.shape or not np.allclose(a, b, 1e-4, 1e-5, equal_nan=True):
            return f"{a!r} against {b!r}"
    return ""


def run(path):
    import tensorflow as tf

    records = pickle.loads(pathlib.Path(path).read_bytes())
    bad = 0
    for one in records:
        text = difference(one, outcome(tf, one))
        if text:
            bad += 1
            print(f"program {one['seed']}: {text}")
    print(f"{len(records)} programs, {sum('error' in one for one in records)} with errors, {bad} differ")
    sys.exit(bad > 0)


if __name__ == "__main__":
    {"export": export, "run": run}[sys.argv[1]](*sys.argv[2:])
