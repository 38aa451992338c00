"""The models that the requests of requests.tsv ask."""

import pathlib

from served_models import with_methods

import headrace as tf

FLOATS = tf.TensorSpec([None], tf.float32, name="x")
TEXTS = tf.TensorSpec([None], tf.string, name="inputs")
TYPES = (
    tf.bool, tf.int8, tf.uint8, tf.int16, tf.int32, tf.uint32, tf.int64, tf.uint64, tf.float16, tf.bfloat16, tf.float32,
    tf.float64, tf.complex64, tf.string,
)  # fmt: skip


def _features(inputs):
    return tf.io.parse_example(inputs, {"x": tf.io.FixedLenFeature([], tf.float32)})["x"]


def save_half(path, offset, with_examples=True):
    """x / 2 + offset, as TensorFlow Serving's models half_plus_two and half_plus_three."""
    model = tf.Module()
    model.offset = tf.Variable(offset)

    def half(x):
        return x / 2.0 + model.offset

    def signature(spec, **outputs):
        def call(**inputs):
            (given,) = inputs.values()
            return {name: make(given) for name, make in outputs.items()}

        return tf.function(call).get_concrete_function(**{spec.name: spec})

    def scores(inputs):
        return half(_features(inputs))[:, tf.newaxis]

    def pairs(inputs):
        return tf.concat([scores(inputs), -scores(inputs)], 1)

    any_shape = tf.TensorSpec(None, tf.float32, name="x")
    signatures = {"serving_default": signature(any_shape, y=half)}
    methods = {}
    if with_examples:
        signatures["tensorflow/serving/predict"] = signature(any_shape, y=half)
        classified = {
            "classify_x_to_y": {"scores": scores},
            "labelled": {
                "scores": pairs, "classes": lambda inputs: tf.tile([["low", "high"]], [tf.shape(inputs)[0], 1]),
            },
            "classify_flat": {"scores": lambda inputs: half(_features(inputs))},
            "classify_double": {"scores": lambda inputs: tf.cast(scores(inputs), tf.float64)},
            "classify_other": {"other": scores},
        }  # fmt: skip
        regressed = {
            "tensorflow/serving/regress": lambda inputs: half(_features(inputs)),
            "regress_x_to_y": scores,
            "regress_wide": pairs,
            "regress_double": lambda inputs: tf.cast(scores(inputs), tf.float64),
        }
        for name, outputs in classified.items():
            signatures[name], methods[name] = signature(TEXTS, **outputs), "tensorflow/serving/classify"
        for name, make in regressed.items():
            signatures[name], methods[name] = signature(TEXTS, outputs=make), "tensorflow/serving/regress"
    tf.saved_model.save(model, path, signatures=signatures)
    with_methods(path, methods)


def save_types(path):
    """A signature for each type, which returns what it is given, and some with odd outputs."""

    def signature(make, *specs):
        return tf.function(make).get_concrete_function(*specs)

    def named(tag, signal, sensor):
        return {"tag": tag, "sum": tf.reduce_sum(signal, 1), "sensor": tf.identity(sensor)}

    def fails(x):
        with tf.control_dependencies([tf.debugging.assert_less(x, 100.0)]):
            return {"y": tf.identity(x)}

    signatures = {
        dtype.name: signature(lambda x: {"y": tf.identity(x)}, tf.TensorSpec(None, dtype, name="x")) for dtype in TYPES
    }
    signatures |= {
        "named": signature(
            named, tf.TensorSpec([None], tf.string, name="tag"), tf.TensorSpec([None, 5], tf.float32, name="signal"),
            tf.TensorSpec([None, 2, 2], tf.int32, name="sensor"),
        ),
        "raw": signature(lambda x: {"y_bytes": tf.identity(x)}, tf.TensorSpec([None], tf.string, name="x")),
        "scalar": signature(lambda x: {"y": tf.reduce_sum(x)}, FLOATS),
        "odd": signature(lambda x: {"a": tf.identity(x), "b": tf.reduce_sum(x, keepdims=True)}, FLOATS),
        "empty": signature(lambda x: {"y": x[:0]}, FLOATS),
        "to_complex": signature(lambda x: {"y": tf.cast(x, tf.complex64)}, FLOATS),
        "fails": signature(fails, FLOATS),
    }  # fmt: skip
    tf.saved_model.save(tf.Module(), path, signatures=signatures)


def save_all(folder: pathlib.Path):
    """All models in a folder; their settings."""
    save_half(f"{folder}/half/123", 3.0)
    save_types(f"{folder}/types/1")
    for version in (1, 2):
        save_half(f"{folder}/pair/{version}", float(version), with_examples=False)
    (folder / "broken" / "1").mkdir(parents=True)
    (folder / "broken" / "1" / "saved_model.pb").write_bytes(b"\xff\xff")
    settings, everything = tf.serving.ModelSettings, tf.serving.VersionPolicy("all")
    return [
        settings("half_plus_three", f"{folder}/half", labels={"stable": 123}),
        settings("types", f"{folder}/types"),
        settings("pair", f"{folder}/pair", everything, {"old": 1, "new": 2}),
        settings("broken", f"{folder}/broken"),
    ]
