"""Estimators as small programs; the arguments are the module `tensorflow` (before 2.16) or `headrace`, and a folder.

    python tests/compat/record_estimators.py    # with TensorFlow 2.15; writes tests/golden/compat_estimators.json
"""

import os

import numpy as np

X = {"a": np.array([[1.0], [2.0], [3.0], [5.0]], np.float32), "w": np.array(["x", "y", "x", "z"]),
     "heavy": np.array([1.0, 2.0, 0.5, 1.0], np.float32)}  # fmt: skip
BINARY = np.array([[0], [1], [0], [1]])
CLASSES = np.array([0, 1, 2, 1])
WORDS = np.array(["no", "yes", "no", "yes"])
NUMBERS = np.array([[1.0], [2.0], [3.0], [5.0]], np.float32)


def rounded(value):
    """Values that JSON has."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return rounded(array.tolist())
    return np.round(array.astype(np.float64), 5).tolist() if array.dtype.kind == "f" else array.tolist()


def even(shape):
    """Numbers at even distances, in the place of random ones."""
    return np.linspace(-0.5, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def beginning_even(tf):
    """A hook that gives trainable variables known values."""

    class Even(tf.compat.v1.train.SessionRunHook):
        def begin(self):
            self.values = [(v, even(v.shape.as_list())) for v in tf.compat.v1.trainable_variables()]

        def after_create_session(self, session, coord):
            for variable, value in self.values:
                variable.load(value, session)

    return Even()


def data(tf, labels, times=3, size=2):
    """An `input_fn`."""
    return lambda: tf.data.Dataset.from_tensor_slices((X, labels)).batch(size).repeat(times)


def tags(tf, folder):
    """What the event files of a folder tell, step by step."""
    found = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("events"):
            for event in tf.compat.v1.train.summary_iterator(os.path.join(folder, name)):
                kind = event.WhichOneof("what")
                found.append([int(event.step), kind, [[v.tag, v.WhichOneof("value")] for v in event.summary.value]])
    return found


def files(folder):
    """The files of a model, without what differs between machines."""
    return sorted({name.split(".vm")[0].split(".")[0] if name.startswith("events") else name
                   for name in os.listdir(folder)})  # fmt: skip


def canned_outcome(tf, estimator, labels, columns):
    """Training, evaluation, prediction and export of a canned estimator."""
    # Not to the end of the data: TensorFlow lets means decay once more in the run that finds it.
    estimator.train(data(tf, labels), hooks=[beginning_even(tf)], steps=6)
    folder = estimator.model_dir
    receive = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(columns)
    )
    model = tf.saved_model.load(estimator.export_saved_model(os.path.join(folder, "exported"), receive).decode())
    signatures = {
        key: [sorted(one.structured_input_signature[1]), sorted(one.structured_outputs)]
        for key, one in model.signatures.items()
    }
    evaluated = estimator.evaluate(data(tf, labels, times=1), name="again")
    return {
        "variables": {name: rounded(estimator.get_variable_value(name)) for name in estimator.get_variable_names()},
        "evaluated": rounded(evaluated), "order": list(evaluated),
        "predicted": rounded(list(estimator.predict(data(tf, labels, times=1)))),
        "tags": tags(tf, folder), "evaluation tags": tags(tf, estimator.eval_dir("again")),
        "files": files(folder), "signatures": rounded(signatures),
    }  # fmt: skip


def canned(tf):
    """Canned estimators: functions of a `RunConfig` that return one with its labels and columns."""
    F, E, E1 = tf.feature_column, tf.estimator, tf.compat.v1.estimator
    a, w = F.numeric_column("a"), F.categorical_column_with_vocabulary_list("w", ["x", "y"])
    plain, deep = [a, w], [a, F.indicator_column(w)]
    embedded = [a, F.embedding_column(w, 2)]
    # Keras 2 has its optimizers for graphs elsewhere.
    legacy = tf.keras.optimizers if tf.__name__ == "headrace" else tf.keras.optimizers.legacy
    return {
        "linear binary": lambda c: (E.LinearClassifier(plain, config=c), BINARY, plain),
        "linear classes, weights": lambda c: (
            E.LinearClassifier(plain, n_classes=3, weight_column="heavy", config=c), CLASSES, plain),
        "linear numbers by Adam": lambda c: (
            E.LinearRegressor(embedded, optimizer=legacy.Adam(0.1), config=c), NUMBERS, embedded),
        "linear words by RMSProp, sums": lambda c: (
            E.LinearClassifier([a], label_vocabulary=["no", "yes"], optimizer="RMSProp", loss_reduction="sum",
                               config=c), WORDS, [a]),
        "deep binary": lambda c: (E.DNNClassifier([3, 2], deep, batch_norm=True, config=c), BINARY, deep),
        "deep numbers by momentum": lambda c: (
            E.DNNRegressor([3], embedded, optimizer=legacy.SGD(0.01, momentum=0.5), weight_column="heavy", config=c),
            NUMBERS, embedded),
        "both": lambda c: (
            E.DNNLinearCombinedClassifier(linear_feature_columns=plain, dnn_feature_columns=deep, dnn_hidden_units=[3],
                                          config=c), BINARY, deep),
        "former linear binary": lambda c: (E1.LinearClassifier(plain, config=c), BINARY, plain),
        "former linear numbers by Adam": lambda c: (
            E1.LinearRegressor([a], optimizer="Adam", weight_column="heavy", config=c), NUMBERS, [a]),
        "former deep classes": lambda c: (E1.DNNClassifier([3], embedded, n_classes=3, config=c), CLASSES, embedded),
        "former both, numbers": lambda c: (
            E1.DNNLinearCombinedRegressor(linear_feature_columns=plain, dnn_feature_columns=deep, dnn_hidden_units=[3],
                                          config=c), NUMBERS, deep),
    }  # fmt: skip


def canned_program(tf, folder, name):
    """The outcome of one of them."""
    config = tf.estimator.RunConfig(folder, tf_random_seed=3, save_summary_steps=2)
    return canned_outcome(tf, *canned(tf)[name](config))


# Estimators of the user's own.


def model(tf):
    """A `model_fn` with a variable and a metric."""

    def model_fn(features, labels, mode, params):
        v1 = tf.compat.v1
        w = v1.get_variable("w", initializer=np.float32(params["begin"]))
        y = features["a"] * w
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, {"y": y, "twice": 2 * y})
        loss = tf.reduce_mean((y - labels) ** 2)
        step = v1.train.get_global_step()
        train = v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        metrics = {"error": v1.metrics.mean_absolute_error(labels, y)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)

    return model_fn


def _own(tf, folder, **settings):
    config = tf.estimator.RunConfig(tf_random_seed=3, **settings)
    return tf.estimator.Estimator(model(tf), folder, config, {"begin": 0.5})


def _steps(tf, folder):
    own = _own(tf, folder)
    found = [own.train(data(tf, NUMBERS), steps=2).get_variable_value("global_step")]
    found.append(own.train(data(tf, NUMBERS), max_steps=3).get_variable_value("global_step"))
    found.append(own.train(data(tf, NUMBERS), max_steps=3).get_variable_value("w"))
    found.append(own.train(data(tf, NUMBERS)).get_variable_value("w"))
    return [rounded(found), os.path.basename(own.latest_checkpoint())]


def _evaluations(tf, folder):
    own = _own(tf, folder)
    first = own.evaluate(data(tf, NUMBERS, times=1))
    own.train(data(tf, NUMBERS))
    found = [first, own.evaluate(data(tf, NUMBERS), steps=1), own.evaluate(data(tf, NUMBERS, size=3), name="other")]
    return [rounded(found), tags(tf, own.eval_dir()), tags(tf, own.eval_dir("other")), tags(tf, folder)]


def _predictions(tf, folder):
    own = _own(tf, folder).train(data(tf, NUMBERS))
    batches = own.predict(data(tf, NUMBERS, times=1, size=3), yield_single_examples=False)
    first = os.path.join(folder, "model.ckpt-0")
    some = own.predict(data(tf, NUMBERS, times=1), predict_keys=["y"], checkpoint_path=first)
    return rounded([list(batches), list(some), next(own.predict(data(tf, NUMBERS)))])


def _checkpoints(tf, folder):
    own = _own(tf, folder, save_checkpoints_steps=2, keep_checkpoint_max=2, save_summary_steps=1)
    own.train(data(tf, NUMBERS))
    return [sorted(name for name in os.listdir(folder) if name.endswith("index")), tags(tf, folder)]


def _warm_start(tf, folder):
    own = _own(tf, os.path.join(folder, "first")).train(data(tf, NUMBERS))
    config = tf.estimator.RunConfig()
    other = tf.estimator.Estimator(model(tf), os.path.join(folder, "second"), config, {"begin": 9.0},
                                   warm_start_from=own.model_dir)  # fmt: skip
    other.train(data(tf, NUMBERS), steps=1)
    return rounded([tf.train.load_variable(os.path.join(folder, "second", "model.ckpt-0"), "w"),
                    other.get_variable_value("w"), other.get_variable_value("global_step")])  # fmt: skip


def _train_and_evaluate(tf, folder):
    E, notes = tf.estimator, []
    own = _own(tf, folder, save_checkpoints_steps=2)
    receive = E.export.build_raw_serving_input_receiver_fn({"a": tf.constant([[0.0]])})

    class Noting(E.Exporter):
        name = property(lambda self: "noting")

        def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
            notes.append([os.path.basename(export_path), os.path.basename(checkpoint_path),
                          rounded(eval_result), bool(is_the_final_export)])  # fmt: skip

    exporters = [Noting(), E.LatestExporter("latest", receive, exports_to_keep=1), E.FinalExporter("final", receive),
                 E.BestExporter(serving_input_receiver_fn=receive, exports_to_keep=2)]  # fmt: skip
    found, paths = E.train_and_evaluate(
        own, E.TrainSpec(data(tf, NUMBERS), max_steps=5),
        E.EvalSpec(data(tf, NUMBERS, times=1), exporters=exporters, throttle_secs=0))  # fmt: skip
    names = ("latest", "final", "best_exporter")
    kept = {name: len(os.listdir(os.path.join(folder, "export", name))) for name in names}
    served = tf.saved_model.load(next(path for path in paths if path).decode())
    signature = served.signatures["serving_default"]
    return [notes, rounded(found), kept, sorted(signature.structured_outputs),
            rounded(signature(a=tf.constant([[2.0]]))["y"].numpy())]  # fmt: skip


def _arrays(tf, folder):
    inputs, v1 = tf.compat.v1.estimator.inputs, tf.compat.v1
    made = {
        "batches go on": inputs.numpy_input_fn({"a": np.arange(5)}, np.arange(5) * 2, 2, 2, shuffle=False),
        "no labels": inputs.numpy_input_fn({"a": np.arange(3), "b": np.eye(3)}, batch_size=2, shuffle=False),
        "one array": inputs.numpy_input_fn(np.arange(3.0), {"y": np.arange(3)}, 4, shuffle=False),
        "shuffled": inputs.numpy_input_fn({"a": np.arange(4)}, batch_size=9, shuffle=True),
    }
    found = {}
    for name, input_fn in made.items():
        with tf.Graph().as_default():
            batch, seen = input_fn(), []
            with v1.train.MonitoredSession() as session:
                while not session.should_stop():
                    seen.append(session.run(batch))
        found[name] = rounded(sorted(seen[0]["a"].tolist())) if name == "shuffled" else rounded(seen)
    return found


OWN = {"steps": _steps, "evaluations": _evaluations, "predictions": _predictions, "checkpoints": _checkpoints,
       "warm start": _warm_start, "train and evaluate": _train_and_evaluate, "arrays": _arrays}  # fmt: skip
