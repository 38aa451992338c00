"""SavedModels that command lines are about, and files with inputs for them. TensorFlow makes both."""

import collections
import pathlib
import pickle

import numpy as np


def save_all(tf, folder):
    """Save all models and inputs into a folder."""
    folder = pathlib.Path(folder)
    _save_module(tf, folder / "module")
    _save_functions(tf, folder / "functions")
    _save_examples(tf, folder / "examples")
    _save_reader(tf, folder / "reader")
    _save_keras(tf, folder / "dense")
    _save_graphs(tf, folder / "graphs")
    _save_inputs(folder)


def _save_module(tf, path):
    spec = tf.TensorSpec
    m = tf.Module()
    m.v = tf.Variable([10.0, 20.0], name="v")
    m.step = tf.Variable(0, dtype=tf.int64, name="step")

    @tf.function(input_signature=[spec([None, 2], tf.float32, "x"), spec([], tf.int32, "y")])
    def two(x, y):
        return {"sum": x + tf.cast(y, tf.float32) + m.v, "product": tf.reduce_prod(x)}

    @tf.function(input_signature=[spec([None], tf.string, "words")])
    def words(words):
        return tf.strings.upper(words), tf.strings.length(words)

    @tf.function(input_signature=[])
    def count():
        return m.step.assign_add(1)

    @tf.function(input_signature=[spec(None, tf.float64, "any")])
    def anything(any):
        tf.print("it is", any)
        return any * 2

    @tf.function(input_signature=[spec([2], tf.bool, "b"), spec([], tf.complex64, "c"), spec([], tf.int8, "i")])
    def types(b, c, i):
        return {"b": tf.logical_not(b), "c": c * 2, "i": i, "h": tf.constant([0.5, 1.5], tf.float16)}

    @tf.function
    def python(x, scale, mode="sum", training=None):
        return x * scale

    python.get_concrete_function(spec([3], tf.float32), 2, mode="mean", training=True)

    @tf.function
    def nested(data, *rest, last):
        return data["a"][1][0] + last[0]

    nested.get_concrete_function(
        {"a": [spec([1], tf.int32), (spec([2]), None)]}, spec([4]), "text", last=(spec([]),)
    )

    @tf.function
    def composite(ragged, sparse):
        return ragged.flat_values, sparse.values

    composite.get_concrete_function(tf.RaggedTensorSpec([None, None], tf.int32), tf.SparseTensorSpec([2, 2]))
    m.two, m.words, m.count, m.anything, m.types = two, words, count, anything, types
    m.python, m.nested, m.composite = python, nested, composite
    m.inner = tf.Module()
    m.inner.double = tf.function(lambda x: x * 2, input_signature=[spec([], tf.float32)])
    signatures = {"serving_default": two, "words": words, "count": count, "anything": anything, "types": types}
    tf.saved_model.save(m, str(path), signatures=signatures)


def _save_functions(tf, path):
    spec = tf.TensorSpec
    m = tf.Module()

    def add(name, function, *calls):
        function = tf.function(function)
        for positional, keyword in calls:
            function.get_concrete_function(*positional, **keyword)
        setattr(m, name, function)

    one = tf.constant(1.0)
    add("star", lambda *x: one, ((), {}), ((spec([]),), {}))
    add("keyword", lambda x, *, scale=1.0, t: x, ((spec([]),), {"t": spec([2])}))
    lists = [([spec([]), spec([2])], (spec([]),)), ([], ()), ([1, "a"], spec([])), ((spec([]), [spec([1])]), {})]
    for number, call in enumerate(lists):
        add(f"lists_{number}", lambda x, y: one, (call, {}))  # TF: several traces are shown in no order
    add("plain", lambda a, b, c, d: one, ((True, 3, {"k": {"z": spec([])}}, tf.float32), {}))
    add("named", lambda x: x, ((spec([], name="other_name"),), {}))
    add("dataset", lambda d: one, ((tf.data.DatasetSpec(spec([], tf.int32)),), {}))
    add("untraced", lambda x: x)
    add("without", lambda: one, ((), {}))
    add("pair", lambda p: p.left, ((collections.namedtuple("Pair", "left right")(spec([]), spec([])),), {}))
    add("variable_keywords", lambda **k: k["a"], ((), {"a": spec([])}))
    m.bare = tf.function(lambda x: x).get_concrete_function(spec([3]))
    m.inside = [tf.function(lambda x: x, input_signature=[spec([])])]
    tf.saved_model.save(m, str(path))


def _save_examples(tf, path):
    m = tf.Module()
    features = {
        "ids": tf.io.VarLenFeature(tf.int64),
        "weights": tf.io.FixedLenFeature([2], tf.float32, [0.0, 0.0]),
        "name": tf.io.FixedLenFeature([], tf.string, "nobody"),
    }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "serialized")])
    def parse(serialized):
        parsed = tf.io.parse_example(serialized, features)
        return {
            "ids": tf.sparse.to_dense(parsed["ids"], -1),
            "weights": parsed["weights"] * 2.0,
            "name": parsed["name"],
        }

    m.parse = parse
    tf.saved_model.save(m, str(path), signatures=parse)


def _save_reader(tf, path):
    m = tf.Module()
    m.read = tf.function(lambda path: tf.io.read_file(path), input_signature=[tf.TensorSpec([], tf.string, "path")])
    tf.saved_model.save(m, str(path), signatures=m.read)


def _save_keras(tf, path):
    keras = tf.keras
    inputs = keras.Input([3], name="features")
    outputs = keras.layers.Dense(2, kernel_initializer="ones", bias_initializer="ones", name="head")(inputs)
    keras.Model(inputs, outputs).export(str(path), verbose=False)


def _save_graphs(tf, path):
    v1 = tf.compat.v1
    builder = v1.saved_model.Builder(str(path))
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        sparse = v1.sparse_placeholder(tf.float32, [3, 3], name="sparse")
        v = v1.get_variable("v", initializer=3.0, use_resource=True)
        y = tf.identity(x * v, "y")
        session.run(v1.global_variables_initializer())
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        info = v1.saved_model.build_tensor_info
        total = tf.sparse.reduce_sum(sparse)
        signatures = {
            "serving_default": signature,
            "total": v1.saved_model.build_signature_def({"s": info(sparse)}, {"total": info(total)}, "some/method"),
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        v1.get_variable("v", initializer=3.0, use_resource=True)
        y = tf.identity(x, "y")
        builder.add_meta_graph(["serve", "gpu"], {"other": v1.saved_model.predict_signature_def({"x": x}, {"y": y})})
    builder.save()


def _save_inputs(folder):
    x = np.array([[1, 2], [3, 4]], np.float32)
    np.save(folder / "x.npy", x)
    np.savez(folder / "xy.npz", x=x, y=np.int32(5))
    np.savez(folder / "only.npz", x)
    (folder / "x.pickle").write_bytes(pickle.dumps(x))
    (folder / "bytes.txt").write_bytes(b"neither NumPy nor pickle")
    np.save(folder / "wide.npy", np.ones([2, 3], np.float32))
