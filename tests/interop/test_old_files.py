"""Models that Keras 2 saved, with arguments and layers that Keras 3 does not have: in all its files."""

import json

import fixtures
import old_models
import pytest

import headrace as tf

pytest.importorskip("keras")


@pytest.fixture(params=old_models.FILES)
def case(request, old_version):
    folder = old_version("tf_keras") / f"files_{request.param}"
    return request.param, folder, fixtures.results(folder)["outputs"]


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_whole_models(case, ending):
    name, folder, expected = case
    model = tf.keras.models.load_model(str(folder / f"model.{ending}"), compile=False)
    assert old_models.outputs(tf, name, model) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("weights", ["weights", "model.h5", "model.keras"])
def test_weights_into_a_model_of_its_description(case, weights):
    name, folder, expected = case
    model = tf.keras.models.model_from_json((folder / "model.json").read_text())
    model.load_weights(str(folder / weights))
    assert old_models.outputs(tf, name, model) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("weights", ["weights", "model.h5"])
def test_weights_into_a_model_of_its_code(case, weights):
    name, folder, expected = case
    if name == "steps":
        pytest.skip("hard_sigmoid in code means that of Keras 3")
    model = old_models.MODELS[name](tf)
    status = model.load_weights(str(folder / weights))
    assert old_models.outputs(tf, name, model) == pytest.approx(expected, abs=1e-5)
    if weights == "weights":
        status.assert_existing_objects_matched()


@pytest.mark.filterwarnings("ignore:__array__ implementation")  # of Keras's variables
def test_loaded_models_are_saved_again(case, tmp_path):
    name, folder, expected = case
    model = tf.keras.models.load_model(str(folder / "model.h5"), compile=False)
    for ending in ("keras", "h5"):
        model.save(str(tmp_path / f"again.{ending}"))
        again = tf.keras.models.load_model(str(tmp_path / f"again.{ending}"), compile=False)
        assert old_models.outputs(tf, name, again) == pytest.approx(expected, abs=1e-5)


def sequential(**settings):
    layer = {"class_name": "LSTM", "config": {"name": "steps", "units": 2, **settings}}
    start = {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 3, 2], "dtype": "float32", "name": "x"}}
    return json.dumps(
        {"class_name": "Sequential", "config": {"name": "s", "layers": [start, layer]}, "keras_version": "2.4.0"}
    )


def test_what_keras_3_cannot_do_is_said():
    assert tf.keras.models.model_from_json(sequential(time_major=False)).output_shape == (None, 2)
    with pytest.raises(ValueError, match="LSTM 'steps' was saved by Keras 2 with time_major=True"):
        tf.keras.models.model_from_json(sequential(time_major=True))


def test_layers_that_are_operations_of_graphs_are_said():
    config = {"name": "m", "input_layers": [["x", 0, 0]], "output_layers": [["sum", 0, 0]], "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 2], "name": "x"}, "name": "x",
         "inbound_nodes": []},
        {"class_name": "TensorFlowOpLayer", "config": {"name": "sum"}, "name": "sum",
         "inbound_nodes": [[["x", 0, 0, {}]]]},
    ]}  # fmt: skip
    text = json.dumps({"class_name": "Functional", "config": config, "keras_version": "2.2.4-tf"})
    with pytest.raises((ValueError, TypeError), match="'sum' of the model 'm' is a TensorFlowOpLayer of Keras 2"):
        tf.keras.models.model_from_json(text)
