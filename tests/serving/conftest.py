"""A server that the tests of this folder share."""

import logging

import pytest
from served_models import save

import headrace as tf


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Serves the model "scaling", of which version 3 is there, under the label "stable" too."""
    folder = tmp_path_factory.mktemp("scaling")
    save(folder, 3)
    logging.getLogger("headrace.serving").setLevel(logging.CRITICAL)
    rest = tf.serving.RestSettings(cors=True, metrics_path="/monitoring/prometheus/metrics", largest_body=1 << 20)
    settings = tf.serving.ServerSettings(rest=rest, has_health=True, poll_seconds=0)
    models = [tf.serving.ModelSettings("scaling", str(folder), labels={"stable": 3, "canary": 4})]
    with tf.serving.Server(models, settings=settings) as running:
        yield running
