"""The state of all optimizers of Keras 2, newer and older ones, in checkpoints, `.h5` and `.keras` files."""

import logging

import fixtures
import old_models
import pytest

import headrace as tf

pytest.importorskip("keras")

OPTIMIZERS = {**old_models.OPTIMIZERS, **old_models.MORE_OPTIMIZERS}
WITHOUT_OLDER = ("adam_average", "adamw", "lion", "adafactor")
CASES = [*OPTIMIZERS, *(f"{kind}_legacy" for kind in OPTIMIZERS if kind not in WITHOUT_OLDER)]
# The momentum of the older Nadam follows another schedule.
CLOSE = {"nadam_legacy": 0.02}


def check(case, model, optimizer, results):
    assert old_models.outputs(tf, "line", model) == pytest.approx(results["outputs"], abs=1e-6)
    steps = range(old_models.WARM_UP, old_models.WARM_UP + old_models.STEPS)
    losses = [old_models.train(tf, "line", model, optimizer, step) for step in steps]
    assert losses == pytest.approx(results["losses"], rel=CLOSE.get(case, 1e-5))
    assert int(optimizer.iterations) == old_models.WARM_UP + old_models.STEPS


def make(case, **other):
    name, settings = OPTIMIZERS[case.removesuffix("_legacy")]
    return getattr(tf.keras.optimizers, name)(**{**settings, **other})


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("built", [False, True], ids=["new", "built"])
def test_checkpoints(old_version, case, built):
    folder = old_version("tf_keras") / f"optimizer_{case}"
    model, optimizer = old_models.line(tf), make(case)
    if built:
        optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(0))
    status = checkpoint.restore(str(folder / "ck-1"))
    check(case, model, optimizer, fixtures.results(folder))
    status.assert_consumed()


@pytest.mark.parametrize("case", CASES)
def test_h5_files(old_version, case):
    folder = old_version("tf_keras") / f"optimizer_{case}"
    model = tf.keras.models.load_model(str(folder / "model.h5"))
    check(case, model, model.optimizer, fixtures.results(folder))


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_keras_files(old_version, case):
    folder = old_version("tf_keras") / f"optimizer_{case}"
    model = tf.keras.models.load_model(str(folder / "model.keras"))
    check(case, model, model.optimizer, fixtures.results(folder))


# Settings that are numbers today and were variables.


def restored(old_version, case, caplog, built=False, **other):
    folder = old_version("tf_keras") / f"optimizer_{case}"
    model, optimizer = old_models.line(tf), make(case, **other)
    if built:
        optimizer.build(model.trainable_variables)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        tf.train.Checkpoint(model=model, optimizer=optimizer).restore(str(folder / "ck-1")).expect_partial()
    return optimizer, caplog.text


def test_a_setting_of_the_file_is_taken_over(old_version, caplog):
    optimizer, text = restored(old_version, "adam_amsgrad_legacy", caplog, beta_1=0.9)
    assert optimizer.beta_1 == pytest.approx(0.8)
    assert "saved by Keras 2 with beta_1=0.8: it is set to that, in the place of 0.9" in text


def test_a_setting_that_cannot_be_taken_over_is_told(old_version, caplog):
    optimizer, text = restored(old_version, "adam_amsgrad_legacy", caplog, built=True, beta_1=0.9)
    assert optimizer.beta_1 == 0.9
    assert "it stays 0.9; make the optimizer with beta_1=0.8" in text


def test_equal_settings_are_not_worth_a_word(old_version, caplog):
    _, text = restored(old_version, "adam_amsgrad_legacy", caplog)
    assert text == ""


def test_a_schedule_stays(old_version, caplog):
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.3, 10, 0.5)
    optimizer, text = restored(old_version, "adam_legacy", caplog, learning_rate=schedule)
    assert optimizer._learning_rate is schedule
    assert "learning_rate=0.01: it stays 0.3" in text


def test_get_slot_finds_what_the_older_optimizers_called_so(old_version, caplog):
    optimizer, _ = restored(old_version, "rmsprop_all_legacy", caplog, built=True)
    variable = optimizer._trainable_variables[1]
    for name, attribute in {"rms": "_velocities", "momentum": "_momentums", "mg": "_average_gradients"}.items():
        assert optimizer.get_slot(variable, name) is getattr(optimizer, attribute)[1]
    with pytest.raises(KeyError, match="RMSprop keeps no 'm' for"):
        optimizer.get_slot(variable, "m")
