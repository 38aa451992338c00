"""What every test and doctest may take for granted."""

import os
import signal

import numpy
import pytest

import headrace
from headrace._src.core.random_state import random_state
from headrace._src.graph.compiling import queue as compile_queue

# Compiled programs of earlier runs decide nothing here, and none are left in the user's cache folder, nor by what tests
# start.
os.environ["HEADRACE_COMPILE_CACHE"] = "0"
# Tests that say tf.install_as_tensorflow() mean their own process, not those that other tests start.
os.environ["HEADRACE_CHILDREN"] = "0"
# What the user hides from programs says nothing about the stand-ins for accelerators.
for variable in ("CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS", "JAX_PLATFORM_NAME"):
    os.environ.pop(variable, None)

# They put another module in their own place, which pytest takes for a mistake; they have no doctests.
collect_ignore = ["headrace/compat/v1/compat.py", "headrace/compat/v2.py"]
# A program of a user, which imports tensorflow.
collect_ignore += ["tests/tensorboard/log_program.py"]
# Programs of other packages, which scripts/packages runs.
collect_ignore_glob = ["tests/packages/programs/*"]


@pytest.fixture(autouse=True)
def _no_seed_afterwards():
    """A global seed that a test sets ends with it: it decides when functions are compiled."""
    yield
    if random_state.seed is not None:
        random_state.set_seed(None)


@pytest.fixture
def nothing_in_the_background():
    """What earlier tests have ordered is not compiled meanwhile: for tests that measure the whole process."""
    before = compile_queue.queue
    if before._thread is not None:
        compile_queue.queue = compile_queue.CompileQueue()
        before.close()
        before._thread.join()


@pytest.fixture
def interrupts_answered():
    """Ctrl-C is answered as usual: a shell that runs the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _names_in_doctests(doctest_namespace):
    """Doctests need not say `import headrace as tf` and `import numpy as np`."""
    doctest_namespace["tf"] = headrace
    doctest_namespace["np"] = numpy
