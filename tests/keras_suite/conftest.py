"""What Keras's own tests expect of the conftest.py of its repository, which its package does not contain."""

import json
import os
import random

import numpy as np
import pytest


def skip_if_backend(given_backend, reason):
    """Skip a test on one backend."""
    return pytest.mark.skipif(given_backend == "tensorflow", reason=reason)


def pytest_configure(config):
    config.addinivalue_line("markers", "requires_trainable_backend: needs a backend with training")
    config.addinivalue_line("markers", "multi_device: needs several devices")


@pytest.fixture(autouse=True)
def _same_numbers_each_time():
    """Keras draws the seeds of layers from Python's generator, and its tests their data from NumPy's."""
    random.seed(1)
    np.random.seed(1)


_outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report):
    """Note how each test ended: a failure of set-up or tear-down counts."""
    before = _outcomes.get(report.nodeid)
    if report.outcome == "failed" or before is None or (before == "passed" and report.outcome == "skipped"):
        _outcomes[report.nodeid] = "passed" if report.when != "call" and report.outcome == "passed" else report.outcome


def pytest_sessionfinish(session):
    place = os.environ.get("KERAS_SUITE_RESULTS")
    if place and not hasattr(session.config, "workerinput"):
        with open(place, "w", encoding="utf-8") as file:
            json.dump(_outcomes, file, indent=0, sort_keys=True)
