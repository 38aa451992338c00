"""What processes of a server tell each other."""

import logging
import os

import pytest
from served_models import save

import headrace as tf
from headrace._src.formats import serving_messages as messages
from headrace._src.serving.metrics import Metrics
from headrace._src.serving.models import Models
from headrace._src.serving.sharing import SharedFolder


@pytest.fixture
def pair(tmp_path):
    return [SharedFolder(str(tmp_path)) for _ in range(2)]


def test_counts_are_added_up(pair):
    metrics = [Metrics(), Metrics()]
    for shared, one in zip(pair, metrics):
        one.others = shared.other_counts
        one.count("a", 3, model_name="m")
        one.observe("b", 100.0, model_name="m")
        shared.put_counts(one)
    metrics[0].count("a", 1, model_name="m")
    text = metrics[0].text()
    assert 'a{model_name="m"} 7' in text
    assert 'b_count{model_name="m"} 2' in text
    assert 'b_sum{model_name="m"} 200.0' in text
    assert metrics[1].text().count('a{model_name="m"} 6') == 1  # until the first tells again
    pair[0].put_counts(metrics[0])
    assert 'a{model_name="m"} 7' in metrics[1].text()


def test_counts_of_a_process_that_has_ended_stay(tmp_path):
    first, metrics = SharedFolder(str(tmp_path)), Metrics()
    metrics.count("a", 2)
    first.put_counts(metrics)
    del first
    other = Metrics()
    other.others = SharedFolder(str(tmp_path)).other_counts
    assert "a 2" in other.text()


def test_all_follow_a_new_configuration(pair, tmp_path):
    save(tmp_path / "models", 1)
    config = messages.ModelServerConfig()
    config.model_config_list.config.add(name="new", base_path=str(tmp_path / "models"))
    models = Models([], lambda name, version, path: (name, version), poll_seconds=0)
    pair[1].follow_models(models)
    assert models.names == []
    pair[0].put_models(config.SerializeToString())
    pair[1].follow_models(models)
    assert models.names == ["new"]
    assert models.versions("new") == {1: ("new", 1)}


def test_a_configuration_that_cannot_be_used_changes_nothing(pair, caplog):
    models = Models([], lambda *arguments: None, poll_seconds=0)
    pair[0].put_models(b"")
    with caplog.at_level(logging.ERROR, "headrace.serving"):
        pair[1].follow_models(models)
    assert "cannot be used" in caplog.text
    assert models.names == []


def test_who_is_up(pair):
    assert not pair[0].is_up(0, os.getpid())
    pair[1].say_up(0)
    assert pair[0].is_up(0, os.getpid())
    assert not pair[0].is_up(0, 1)


def test_servers_of_one_folder(tmp_path):
    save(tmp_path / "models", 1)
    (tmp_path / "shared").mkdir()
    settings = tf.serving.ServerSettings(shared_folder=str(tmp_path / "shared"), grpc_port=None, poll_seconds=0)
    with tf.serving.Server(str(tmp_path / "models"), "m", settings) as one:
        again = settings._replace(rest_port=one.rest_port)
        with tf.serving.Server(str(tmp_path / "models"), "m", again) as two:
            assert two.rest_port == one.rest_port
