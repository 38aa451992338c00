"""Programs of the shape of TensorFlow's guides about distributed training, with little data; each checks itself.

    tutorials.py FOLDER [--devices N] [NAME ...]

With `--devices` it is MirroredStrategy over logical devices, and otherwise one of the workers of `headrace launch`.
"""

import argparse
import os

import numpy as np
import tensorflow as tf

PROGRAMS = {}
GLOBAL_BATCH, EPOCHS = 16, 3


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def digits(count=48):
    """Images of two classes that are easy to tell apart."""
    rng = np.random.default_rng(0)
    labels = np.arange(count) % 2
    images = rng.random((count, 8, 8)) * 0.3 + labels[:, None, None] * np.linspace(0, 1, 8)
    return images[..., np.newaxis].astype(np.float32), labels.astype(np.int64)


def create_model():
    return tf.keras.Sequential([
        tf.keras.Input([8, 8, 1]),
        tf.keras.layers.Conv2D(4, 3, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(1e-4)),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(2),
    ])  # fmt: skip


def check_learned(losses):
    assert losses[-1] < losses[0], losses
    assert np.isfinite(losses).all(), losses


@program
def custom_training(strategy, folder):
    """The loop of one's own: per-example losses, metrics in the scope, a checkpoint that plain code restores."""
    images, labels = digits()
    train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(48, seed=1).batch(GLOBAL_BATCH)
    test = tf.data.Dataset.from_tensor_slices((images, labels)).batch(GLOBAL_BATCH)
    train_batches = strategy.experimental_distribute_dataset(train)
    test_batches = strategy.experimental_distribute_dataset(test)
    with strategy.scope():
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

        def compute_loss(labels, predictions, model_losses):
            loss = tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=GLOBAL_BATCH)
            if model_losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(model_losses))
            return loss

        test_loss = tf.keras.metrics.Mean(name="test_loss")
        train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
        model = create_model()
        optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
        checkpoint = tf.train.Checkpoint(model=model)

    def train_step(inputs):
        images, labels = inputs
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = compute_loss(labels, predictions, model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        train_accuracy.update_state(labels, predictions)
        return loss

    def test_step(inputs):
        images, labels = inputs
        test_loss.update_state(loss_object(labels, model(images, training=False)))

    @tf.function
    def distributed_train_step(inputs):
        per_replica = strategy.run(train_step, args=(inputs,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

    @tf.function
    def distributed_test_step(inputs):
        return strategy.run(test_step, args=(inputs,))

    losses = []
    for _ in range(EPOCHS):
        total, count = 0.0, 0
        for batch in train_batches:
            total += distributed_train_step(batch)
            count += 1
        for batch in test_batches:
            distributed_test_step(batch)
        losses.append(float(total / count))
        assert 0.0 <= float(train_accuracy.result()) <= 1.0
        test_loss.reset_state()
        train_accuracy.reset_state()
    check_learned(losses)

    @tf.function
    def distributed_train_epoch(batches):
        total, count = 0.0, 0
        for batch in batches:
            total += strategy.reduce("SUM", strategy.run(train_step, args=(batch,)), axis=None)
            count += 1
        return total / tf.cast(count, tf.float32)

    assert float(distributed_train_epoch(train_batches)) < losses[0]
    own = os.path.join(folder, "custom", str(strategy.extended._first_replica))
    path = checkpoint.save(os.path.join(own, "ckpt"))
    fresh = create_model()
    tf.train.Checkpoint(model=fresh).restore(path).assert_consumed()
    np.testing.assert_array_equal(fresh.get_weights()[0], model.get_weights()[0])


@program
def keras_fit(strategy, folder):
    """`fit` with callbacks, `evaluate`, and a model that is loaded within the scope of a strategy and without one."""
    images, labels = digits()
    batch = 8 * strategy.num_replicas_in_sync
    train = tf.data.Dataset.from_tensor_slices((images, labels)).cache().shuffle(48, seed=1).batch(batch)
    with strategy.scope():
        model = create_model()
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(learning_rate=0.01), metrics=["accuracy"],
        )  # fmt: skip
    own = os.path.join(folder, "keras", str(strategy.extended._first_replica))
    os.makedirs(own, exist_ok=True)

    class PrintRate(tf.keras.callbacks.Callback):
        rates = []

        def on_epoch_end(self, epoch, logs=None):
            self.rates.append(float(self.model.optimizer.learning_rate))

    callbacks = [
        tf.keras.callbacks.TensorBoard(log_dir=os.path.join(own, "logs")),
        tf.keras.callbacks.ModelCheckpoint(os.path.join(own, "ckpt_{epoch}.weights.h5"), save_weights_only=True),
        tf.keras.callbacks.LearningRateScheduler(lambda epoch: 1e-2 if epoch < 2 else 1e-3),
        PrintRate(),
    ]
    history = model.fit(train, epochs=EPOCHS, callbacks=callbacks, verbose=0)
    check_learned(history.history["loss"])
    np.testing.assert_allclose(PrintRate.rates, [1e-2, 1e-2, 1e-3], rtol=1e-6)
    loss, _ = model.evaluate(train, verbose=0)
    model.load_weights(os.path.join(own, f"ckpt_{EPOCHS}.weights.h5"))
    path = os.path.join(own, "my_model.keras")
    model.save(path)
    with strategy.scope():
        replicated = tf.keras.models.load_model(path)
    np.testing.assert_allclose(replicated.evaluate(train, verbose=0)[0], loss, rtol=1e-5)
    plain = tf.keras.models.load_model(path)
    np.testing.assert_allclose(plain.predict(images, verbose=0), replicated.predict(images, verbose=0), rtol=1e-4)


@program
def input_pipelines(strategy, folder):
    """Datasets that are cut, made by a function, repeated, sharded by an option, and values without a dataset."""
    count = strategy.num_replicas_in_sync
    first = strategy.extended._first_replica
    dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(20 * count).batch(4 * count)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dist = strategy.experimental_distribute_dataset(dataset.with_options(options))
    sizes = [sum(part.shape[0] for part in strategy.experimental_local_results(x)) for x, _ in dist]
    assert sizes == [4 * len(strategy.extended.worker_devices)] * 5, sizes

    def dataset_fn(context):
        batch = context.get_per_replica_batch_size(4 * count)
        dataset = tf.data.Dataset.from_tensors([1.0]).repeat(64).batch(16)
        return dataset.shard(context.num_input_pipelines, context.input_pipeline_id).batch(batch).prefetch(2)

    dist = strategy.distribute_datasets_from_function(dataset_fn)
    seen = 0
    for part in dist:
        seen += int(strategy.reduce("SUM", strategy.run(lambda x: tf.size(x), args=(part,)), axis=None))
    assert seen == 64, seen

    @tf.function(input_signature=[dist.element_spec])
    def step(x):
        return strategy.run(lambda x: 2 * x, args=(x,))

    iterator = iter(dist)
    step(next(iterator))

    @tf.function
    def steps(iterator):
        for _ in tf.range(2):
            optional = iterator.get_next_as_optional()
            if not optional.has_value():
                break
            strategy.run(lambda x: x, args=(optional.get_value(),))

    steps(iter(strategy.experimental_distribute_dataset(dataset)))

    def value_fn(context):
        return tf.constant(float(context.replica_id_in_sync_group))

    values = strategy.experimental_distribute_values_from_function(value_fn)
    total = strategy.reduce("SUM", strategy.run(lambda x: tf.square(x), args=(values,)), axis=None)
    assert float(total) == sum(i * i for i in range(count)), (total, first)
    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]] * (2 * count))).batch(2 * count)
    for part in strategy.experimental_distribute_dataset(ragged):
        strategy.run(lambda x: tf.reduce_sum(x), args=(part,))


@program
def saving(strategy, folder):
    """A SavedModel of a model that was trained under a strategy, loaded in a scope, without one, and elsewhere."""
    images, labels = digits()
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(GLOBAL_BATCH)
    with strategy.scope():
        model = create_model()
        model.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(dataset, epochs=1, verbose=0)
    own = os.path.join(folder, "saved", str(strategy.extended._first_replica))
    tf.saved_model.save(model, own)
    expected = model.predict(images, verbose=0)
    plain = tf.saved_model.load(own).signatures["serving_default"]
    name = next(iter(plain.structured_outputs))
    np.testing.assert_allclose(plain(tf.constant(images))[name].numpy(), expected, rtol=1e-4, atol=1e-5)
    with strategy.scope():
        loaded = tf.saved_model.load(own)
        inference = loaded.signatures["serving_default"]
        if strategy.num_replicas_in_sync > 1 and len(strategy.extended.worker_devices) > 1:
            assert all(isinstance(v, tf.distribute.DistributedValues) for v in loaded.variables), loaded.variables[0]
        parts = []
        for part in strategy.experimental_distribute_dataset(dataset):
            parts.append(strategy.run(lambda x: inference(x)[name], args=(part[0],)))
    found = np.concatenate([strategy.gather(part, axis=0).numpy() for part in parts])
    assert found.shape == expected.shape

    class Scale(tf.Module):
        def __init__(self):
            self.weight = tf.Variable([2.0, 3.0], name="weight")

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def __call__(self, x):
            return x * self.weight

    path = os.path.join(folder, "module", str(strategy.extended._first_replica))
    with strategy.scope():
        tf.saved_model.save(Scale(), path)
        again = tf.saved_model.load(path)

        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(again(x))
            (gradient,) = tf.distribute.get_replica_context().all_reduce("SUM", [tape.gradient(loss, again.weight)])
            again.weight.assign_sub(0.1 * gradient)

        tf.function(lambda: strategy.run(step, args=(tf.ones([1, 2]),)))()
    change = 0.1 * strategy.num_replicas_in_sync
    np.testing.assert_allclose(again.weight.numpy(), [2.0 - change, 3.0 - change], rtol=1e-5)


@program
def several_workers(strategy, folder):
    """What the guides for several workers add: who is chief, where others write, a step counter, recovery."""
    resolver = strategy.cluster_resolver
    is_chief = resolver is None or resolver.task_id in (0, None)

    def write_path(path):
        return path if is_chief else os.path.join(os.path.dirname(path), f"workertemp_{resolver.task_id}", "x")

    images, labels = digits()

    def dataset_fn(context):
        dataset = tf.data.Dataset.from_tensor_slices((images, labels)).repeat()
        dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
        return dataset.batch(context.get_per_replica_batch_size(GLOBAL_BATCH)).prefetch(2)

    dataset = strategy.distribute_datasets_from_function(dataset_fn)
    with strategy.scope():
        model = create_model()
        optimizer = tf.keras.optimizers.SGD(0.1)
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        epoch = tf.Variable(initial_value=tf.constant(0, dtype=tf.dtypes.int64), name="epoch")
        step_in_epoch = tf.Variable(initial_value=tf.constant(0, dtype=tf.dtypes.int64), name="step_in_epoch")
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    @tf.function
    def train_step(iterator):
        def step_fn(inputs):
            x, y = inputs
            with tf.GradientTape() as tape:
                predictions = model(x, training=True)
                loss = tf.nn.compute_average_loss(loss_object(y, predictions), global_batch_size=GLOBAL_BATCH)
                loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
            optimizer.apply_gradients(
                zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
            )
            accuracy.update_state(y, predictions)
            return loss

        losses = strategy.run(step_fn, args=(next(iterator),))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    directory = os.path.join(folder, "recovery", "ckpt")
    checkpoint = tf.train.Checkpoint(model=model, epoch=epoch, step_in_epoch=step_in_epoch)
    manager = tf.train.CheckpointManager(checkpoint, directory=write_path(directory), max_to_keep=1)
    assert tf.train.latest_checkpoint(directory) is None or is_chief
    losses = []
    while epoch.numpy() < EPOCHS:
        iterator = iter(dataset)
        total = 0.0
        while step_in_epoch.numpy() < 3:
            total += train_step(iterator)
            step_in_epoch.assign_add(1)
        losses.append(float(total) / 3)
        accuracy.reset_state()
        manager.save()
        epoch.assign_add(1)
        step_in_epoch.assign(0)
    check_learned(losses)
    path = os.path.join(folder, "several", "model.keras")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if is_chief:
        model.save(path)
        assert len(tf.keras.models.load_model(path).weights) == len(model.weights)


def main():
    """Run programs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--devices", type=int)
    options = parser.parse_args()
    if options.devices is None:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    else:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * options.devices)
        strategy = tf.distribute.MirroredStrategy()
    for name in options.names:
        tf.keras.utils.set_random_seed(1)
        PROGRAMS[name](strategy, options.folder)
        print(f"{name}: passed", flush=True)


if __name__ == "__main__":
    main()
