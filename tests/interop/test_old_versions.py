"""Checkpoints, weights and models of TensorFlow 2.12 to 2.15 and tf_keras in today's Keras: training goes on."""

import fixtures
import numpy as np
import old_models
import pytest

import headrace as tf

pytest.importorskip("keras")

OTHERS = ["2.13", "2.14", "2.15"]  # they write as 2.12 and tf_keras do
VERSIONS = ["2.12", "tf_keras", *(pytest.param(version, marks=pytest.mark.slow) for version in OTHERS)]
CHECKPOINTS = {
    **{f"checkpoint_{kind}{end}": ("functional", kind) for kind in old_models.OPTIMIZERS for end in ("", "_legacy")},
    "checkpoint_recurrent": ("recurrent", "adam"),
    "checkpoint_subclassed": ("subclassed", "adam"),
    "checkpoint_sequential": ("sequential", "sgd_momentum"),
}
WEIGHTS = {
    "weights_functional": ("functional", "adam"),
    "weights_subclassed_legacy": ("subclassed", "adam"),
    "weights_sequential": ("sequential", "rmsprop"),
}
# Gradients of embeddings have rows more than once, whose squares Keras 3 adds up otherwise.
OTHERWISE = {"checkpoint_recurrent": 1}


def make(name, kind):
    optimizer_name, settings = old_models.OPTIMIZERS[kind]
    return old_models.MODELS[name](tf), getattr(tf.keras.optimizers, optimizer_name)(**settings)


def check(case, name, model, optimizer, results):
    """The model computes what was recorded, and its training goes on as it did there."""
    assert old_models.outputs(tf, name, model) == pytest.approx(results["outputs"], abs=1e-6)
    count = OTHERWISE.get(case, old_models.STEPS)
    steps = range(old_models.WARM_UP, old_models.WARM_UP + count)
    losses = [old_models.train(tf, name, model, optimizer, step) for step in steps]
    assert losses == pytest.approx(results["losses"][:count], rel=1e-5)
    assert int(optimizer.iterations) == old_models.WARM_UP + count


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CHECKPOINTS)
def test_checkpoints(old_version, version, case):
    folder = old_version(version) / case
    name, kind = CHECKPOINTS[case]
    model, optimizer = make(name, kind)
    step = tf.Variable(0)
    status = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step).restore(str(folder / "ck-1"))
    check(case, name, model, optimizer, fixtures.results(folder))
    assert int(step) == 7
    status.assert_consumed()


@pytest.mark.parametrize("case", ["checkpoint_adam", "checkpoint_adam_legacy", "checkpoint_recurrent"])
def test_checkpoints_into_an_optimizer_that_has_been_used(old_version, case):
    folder = old_version("2.12") / case
    name, kind = CHECKPOINTS[case]
    model, optimizer = make(name, kind)
    old_models.train(tf, name, model, optimizer, 0)
    tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(0)).restore(
        str(folder / "ck-1")
    ).assert_consumed()
    check(case, name, model, optimizer, fixtures.results(folder))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("compiled", ["before", "after"])
def test_weights_in_checkpoints(old_version, version, case, compiled):
    folder = old_version(version) / case
    name, kind = WEIGHTS[case]
    model, optimizer = make(name, kind)
    if compiled == "before":
        model.compile(optimizer, "mse")
    status = model.load_weights(tf.train.latest_checkpoint(str(folder)))
    if compiled == "after":
        model.compile(optimizer, "mse")
    check(case, name, model, optimizer, fixtures.results(folder))
    status.assert_consumed()


@pytest.mark.parametrize("version", VERSIONS)
def test_h5_with_the_state_of_the_optimizer(old_version, version):
    folder = old_version(version) / "h5_functional"
    model = tf.keras.models.load_model(str(folder / "model.h5"))
    check("h5_functional", "functional", model, model.optimizer, fixtures.results(folder))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", ["saved_functional", "saved_subclassed"])
def test_saved_models_of_keras_are_called(old_version, version, case):
    folder = old_version(version) / case
    name = case.removeprefix("saved_")
    loaded = tf.saved_model.load(str(folder / "model"))
    expected = fixtures.results(folder)["outputs"]
    x = tf.constant(old_models.inputs(name))
    assert np.asarray(loaded(x)) == pytest.approx(expected, abs=1e-6)
    (output,) = loaded.signatures["serving_default"](x).values()
    assert output.numpy() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", ["saved_functional", "saved_subclassed"])
def test_weights_of_a_saved_model(old_version, version, case):
    folder = old_version(version) / case
    name = case.removeprefix("saved_")
    model = old_models.MODELS[name](tf)
    model.load_weights(str(folder / "model")).expect_partial()
    assert old_models.outputs(tf, name, model) == pytest.approx(fixtures.results(folder)["outputs"], abs=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_saved_model_becomes_a_model_whose_training_goes_on(old_version, version):
    folder = old_version(version) / "saved_functional"
    model = tf.keras.models.load_model(str(folder / "model"))
    results = fixtures.results(folder)
    assert [layer.name for layer in model.layers if layer.weights] == ["right", "left", "norm", "end"]
    assert old_models.outputs(tf, "functional", model) == pytest.approx(results["outputs"], abs=1e-6)
    steps = range(old_models.WARM_UP, old_models.WARM_UP + old_models.STEPS)
    losses = [old_models.train(tf, "functional", model, model.optimizer, step) for step in steps]
    assert losses == pytest.approx(results["losses"], rel=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_saved_model_without_a_description_computes(old_version, version):
    folder = old_version(version) / "saved_subclassed"
    model = tf.keras.models.load_model(str(folder / "model"))
    expected = fixtures.results(folder)["outputs"]
    assert model.predict(old_models.inputs("subclassed"), verbose=0) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_module_goes_on_training(old_version, version):
    folder = old_version(version) / "module"
    results = fixtures.results(folder)
    loaded = tf.saved_model.load(str(folder / "model"))
    x = old_models.numbers([3, 4], 0)
    assert loaded.predict(x).numpy() == pytest.approx(results["outputs"], abs=1e-6)
    assert loaded.find(["b", "?"]).numpy().tolist() == [2, -1]
    steps = range(old_models.WARM_UP, old_models.WARM_UP + old_models.STEPS)
    losses = [float(loaded.step(old_models.numbers([3, 4], step + 1))) for step in steps]
    assert losses == pytest.approx(results["losses"], rel=1e-5)
    assert loaded.predict(x).numpy() == pytest.approx(results["outputs_after"], abs=1e-6)
