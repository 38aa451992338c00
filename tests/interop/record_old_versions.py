"""Save models with an old TensorFlow: `python record_old_versions.py FOLDER`, run by scripts/golden_old_versions.

Each case is a folder with the files and a `results.npz`: outputs, and the losses and outputs of ten more steps.
"""

import pathlib
import sys

import numpy as np
import old_models
import tensorflow as tf


def go_on(name, model, optimizer, **more):
    """What the model computes now, in ten more steps, and after them."""
    before = old_models.outputs(tf, name, model)
    weights = [x.numpy() for x in model.weights]
    steps = range(old_models.WARM_UP, old_models.WARM_UP + old_models.STEPS)
    losses = [old_models.train(tf, name, model, optimizer, step) for step in steps]
    arrays = {f"weight{i}": x for i, x in enumerate(weights)}
    return {"outputs": before, "losses": losses, "outputs_after": old_models.outputs(tf, name, model), **arrays, **more}


def trained(name, optimizer):
    tf.keras.utils.set_random_seed(3)
    model = old_models.MODELS[name](tf)
    for step in range(old_models.WARM_UP):
        old_models.train(tf, name, model, optimizer, step)
    return model


def optimizer_of(kind, legacy):
    name, settings = {**old_models.OPTIMIZERS, **old_models.MORE_OPTIMIZERS}[kind]
    module = tf.keras.optimizers.legacy if legacy else tf.keras.optimizers
    return getattr(module, name)(**settings)


def record_checkpoint(folder, name, kind, legacy):
    """`tf.train.Checkpoint(model=, optimizer=)`."""
    optimizer = optimizer_of(kind, legacy)
    model = trained(name, optimizer)
    tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(7)).save(str(folder / "ck"))
    np.savez_compressed(folder / "results.npz", **go_on(name, model, optimizer))


def record_weights(folder, name, kind, legacy):
    """`save_weights` in TensorFlow's format, of a compiled model: the optimizer is part of it."""
    optimizer = optimizer_of(kind, legacy)
    model = trained(name, optimizer)
    model.compile(optimizer, "mse")
    model.save_weights(str(folder / "weights"), save_format="tf")
    np.savez_compressed(folder / "results.npz", **go_on(name, model, optimizer))


def record_saved_model(folder, name, kind, legacy):
    """`model.save` of a folder."""
    optimizer = optimizer_of(kind, legacy)
    model = trained(name, optimizer)
    model.compile(optimizer, "mse")
    x = old_models.inputs(name)
    model.train_on_batch(x, np.zeros_like(model(x)))
    model.save(str(folder / "model"), save_format="tf")
    np.savez_compressed(folder / "results.npz", **go_on(name, model, optimizer))


def record_h5(folder, name, kind, legacy):
    """`.h5`: the whole model, as Keras 2 wrote it."""
    optimizer = optimizer_of(kind, legacy)
    model = trained(name, optimizer)
    model.compile(optimizer, "mse")
    model.save(str(folder / "model.h5"))
    np.savez_compressed(folder / "results.npz", **go_on(name, model, optimizer))


def record_saver(folder):
    """A checkpoint of 1.x: variables by name, with the slots of a 1.x optimizer, and the graph."""
    v1 = tf.compat.v1
    graph = v1.Graph()
    with graph.as_default():
        v1.set_random_seed(3)
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", [4, 3])
            b = v1.get_variable("b", [3], initializer=v1.zeros_initializer())
        y = tf.identity(tf.nn.relu(tf.matmul(x, w) + b), name="y")
        step = v1.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(y - 0.3), name="loss")
        train = v1.train.AdamOptimizer(0.01).minimize(loss, global_step=step, name="train")
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for i in range(old_models.WARM_UP):
                session.run(train, {x: old_models.numbers([3, 4], i + 1)})
            saver.save(session, str(folder / "model"), global_step=step)
            outputs = session.run(y, {x: old_models.numbers([3, 4], 0)})
            steps = range(old_models.WARM_UP, old_models.WARM_UP + old_models.STEPS)
            losses = [session.run([loss, train], {x: old_models.numbers([3, 4], i + 1)})[0] for i in steps]
            after = session.run(y, {x: old_models.numbers([3, 4], 0)})
            np.savez_compressed(folder / "results.npz", outputs=outputs, losses=losses, outputs_after=after)


def record_module(folder):
    """A module of `tf.Module` as a SavedModel, with a training step inside."""

    class Line(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(old_models.numbers([4, 2], 5))
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
            )

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def predict(self, x):
            return tf.matmul(x, self.w)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, keys):
            return self.table.lookup(keys)

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def step(self, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.predict(x) - 0.3))
            self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
            return loss

    module = Line()
    tf.saved_model.save(module, str(folder / "model"), signatures={"predict": module.predict, "find": module.find})
    outputs = module.predict(old_models.numbers([3, 4], 0))
    steps = range(old_models.WARM_UP, old_models.WARM_UP + old_models.STEPS)
    losses = [float(module.step(old_models.numbers([3, 4], i + 1))) for i in steps]
    after = module.predict(old_models.numbers([3, 4], 0))
    np.savez_compressed(folder / "results.npz", outputs=outputs, losses=losses, outputs_after=after)


def record_files(folder, name):
    """A model in all the formats that Keras 2 has for one."""
    tf.keras.utils.set_random_seed(3)
    model = old_models.MODELS[name](tf)
    for place, variable in enumerate(model.trainable_weights):  # ones and zeros would hide a wrong order
        variable.assign(old_models.numbers(variable.shape, place) * 0.5)
    model.save(str(folder / "model.h5"))
    model.save(str(folder / "model.keras"))
    model.save_weights(str(folder / "weights"), save_format="tf")
    (folder / "model.json").write_text(model.to_json())
    np.savez_compressed(folder / "results.npz", outputs=old_models.outputs(tf, name, model))


def record_optimizer(folder, kind, legacy):
    """An optimizer in a checkpoint, and in files of the model."""
    optimizer = optimizer_of(kind, legacy)
    model = trained("line", optimizer)
    model.compile(optimizer, "mse")
    tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(7)).save(str(folder / "ck"))
    model.save(str(folder / "model.h5"))
    if not legacy:
        model.save(str(folder / "model.keras"))
    np.savez_compressed(folder / "results.npz", **go_on("line", model, optimizer))


def more_cases():
    """What is recorded with tf_keras only."""
    kinds = {**old_models.OPTIMIZERS, **old_models.MORE_OPTIMIZERS}
    for kind, (name, settings) in kinds.items():
        yield f"optimizer_{kind}", (record_optimizer, kind, False)
        if hasattr(tf.keras.optimizers.legacy, name) and "use_ema" not in settings:
            yield f"optimizer_{kind}_legacy", (record_optimizer, kind, True)
    for name in old_models.FILES:
        yield f"files_{name}", (record_files, name)


def main(root: pathlib.Path):
    cases = {
        **{
            f"checkpoint_{kind}{'_legacy' * legacy}": (record_checkpoint, "functional", kind, legacy)
            for kind in old_models.OPTIMIZERS
            for legacy in (False, True)
        },
        "checkpoint_recurrent": (record_checkpoint, "recurrent", "adam", False),
        "checkpoint_subclassed": (record_checkpoint, "subclassed", "adam", True),
        "checkpoint_sequential": (record_checkpoint, "sequential", "sgd_momentum", False),
        "weights_functional": (record_weights, "functional", "adam", False),
        "weights_subclassed_legacy": (record_weights, "subclassed", "adam", True),
        "weights_sequential": (record_weights, "sequential", "rmsprop", False),
        "saved_functional": (record_saved_model, "functional", "adam", False),
        "saved_subclassed": (record_saved_model, "subclassed", "sgd_momentum", True),
        "h5_functional": (record_h5, "functional", "adam", False),
        "saver": (record_saver,),
        "module": (record_module,),
    }
    if "tf_keras" in tf.keras.__name__:
        cases.update(more_cases())
    for case, (recorder, *arguments) in cases.items():
        folder = root / case
        folder.mkdir(parents=True)
        recorder(folder, *arguments)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
