"""Requests that are kept: which, where, and that warm-up can read them."""

import logging

import numpy as np
import pytest
from served_models import asked, save

import headrace as tf
from headrace._src.formats import serving_messages as messages
from headrace._src.formats.records import RecordReader
from headrace._src.serving import configuration
from headrace._src.serving.request_log import RequestLog
from headrace._src.serving.servables import Servable
from headrace._src.serving.warm_up import warm_up


def logs(folder):
    """What the files of a folder hold."""
    return [
        messages.PredictionLog.FromString(record)
        for path in sorted(folder.glob("kept-*.tfrecord"))
        for record in RecordReader(str(path))
    ]


def test_requests_are_kept_and_warm_up(tmp_path):
    path = save(tmp_path / "models", 3)
    kept = tf.serving.LoggingSettings(str(tmp_path / "kept"))
    settings = tf.serving.ServerSettings(grpc_port=None, poll_seconds=0)
    models = [tf.serving.ModelSettings("scaling", str(tmp_path / "models"), logging=kept)]
    with tf.serving.Server(models, settings=settings) as server:
        url = f"{server.rest_url}/v1/models/scaling"
        assert asked(f"{url}:predict", {"instances": [[1, 2]]})[0] == 200
        assert asked(f"{url}:predict", {"instances": [[1]]})[0] == 400  # what has failed is not kept
        body = {"signature_name": "classify", "examples": [{"x": [2.0, 1.0]}]}
        assert asked(f"{url}:classify", body)[0] == 200
    first, second = logs(tmp_path)
    assert first.log_metadata.model_spec.name == "scaling"
    assert first.log_metadata.model_spec.version.value == 3
    assert list(first.log_metadata.saved_model_tags) == ["serve"]
    assert first.log_metadata.sampling_config.sampling_rate == 1.0
    assert first.log_metadata.timestamp_secs > 0
    assert first.predict_log.request.model_spec.signature_name == "serving_default"
    outputs = first.predict_log.response.outputs
    assert tf.io.parse_tensor(outputs["y"], tf.float32).numpy().tolist() == [[2.0, 4.0]]
    assert len(second.classify_log.request.input.example_list.examples) == 1
    (tmp_path / "models" / "3" / "assets.extra").mkdir()
    (file,) = tmp_path.glob("kept-*.tfrecord")
    file.rename(tmp_path / "models" / "3" / "assets.extra" / "tf_serving_warmup_requests")
    assert warm_up(Servable("scaling", 3, path)) == 2


def test_a_part_of_all_is_kept(tmp_path):
    servable = Servable("scaling", 1, save(tmp_path / "models", 1))
    signature = servable.signature("")
    log = RequestLog()
    x = {"x": np.ones([1, 2], np.float32)}
    for _ in range(200):
        log.predict(tf.serving.LoggingSettings(str(tmp_path / "kept"), 0.5), servable, signature, x, {})
        log.predict(tf.serving.LoggingSettings(str(tmp_path / "none"), 0.0), servable, signature, x, {})
        log.predict(None, servable, signature, x, {})
    log.close()
    assert 50 < len(logs(tmp_path)) < 150  # but for one time in 10^12
    assert not list(tmp_path.glob("none*"))


def test_a_place_that_cannot_be_written_fails_no_request(tmp_path, caplog):
    servable = Servable("scaling", 1, save(tmp_path / "models", 1))
    log = RequestLog()
    (tmp_path / "file").touch()
    with caplog.at_level(logging.ERROR, "headrace.serving"):
        where = tf.serving.LoggingSettings(str(tmp_path / "file" / "kept"))
        log.examples(where, servable, servable.signature("classify"), [b""])
        log.close()
    assert "cannot be kept" in caplog.text


def test_configuration(tmp_path):
    path = tmp_path / "models.config"
    path.write_text("""model_config_list { config { name: "a" base_path: "/a" logging_config {
        log_collector_config { type: "file" filename_prefix: "/logs/a" }
        sampling_config { sampling_rate: 0.25 } } } }""")
    (found,) = configuration.read_models(str(path))
    assert found.logging == tf.serving.LoggingSettings("/logs/a", 0.25)
    path.write_text('model_config_list { config { name: "a" base_path: "/a" logging_config { } } }')
    with pytest.raises(tf.errors.InvalidArgumentError, match="filename_prefix"):
        configuration.read_models(str(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="from 0 to 1"):
        tf.serving.LoggingSettings("/a", 1.5)
