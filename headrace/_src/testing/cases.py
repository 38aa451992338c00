"""`tf.test.TestCase` and `tf.test.main`."""

import contextlib
import functools
import os
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from absl.testing import absltest

from headrace._src.compat.behavior import get_default_graph, reset_default_graph
from headrace._src.compat.sessions.session import Session, get_default_session
from headrace._src.core import nest, tensor
from headrace._src.core.context import context
from headrace._src.op.api import api
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.random import seeds
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue
from headrace._src.testing.benchmarks import run_benchmarks
from headrace._src.testing.comparisons import Comparisons

_SEED = 87654321


@api("test.TestCase")
class TestCase(Comparisons, absltest.TestCase):
    """A test case that compares tensors; each test begins with the same random seeds.

    >>> class Doubling(tf.test.TestCase):
    ...     def test_numbers(self):
    ...         self.assertAllClose(tf.constant([0.1, 0.2]) * 2, [0.2, 0.4])
    >>> Doubling("test_numbers").run().wasSuccessful()
    True
    """

    __test__ = True

    def __init__(self, methodName="runTest") -> None:
        super().__init__(methodName)
        self._kept_session = None
        self._folder = None
        self._threads = []

    def setUp(self) -> None:
        super().setUp()
        self._kept_session = None
        random.seed(_SEED)
        np.random.seed(_SEED)
        if context.graph is None:
            reset_default_graph()
        seeds.set_seed(_SEED)

    def tearDown(self) -> None:
        for thread in self._threads:
            thread.check_termination()
        self._threads.clear()
        if self._kept_session is not None:
            self._kept_session.close()
            self._kept_session = None
        super().tearDown()

    def evaluate(self, tensors) -> Any:
        """Tensors, or a structure of them, as NumPy values; in a graph, a session runs them."""
        if context.graph is None:
            return nest.map_structure(_value, tensors)
        session = get_default_session()
        if session is None:
            with self.cached_session() as session:
                return session.run(tensors)
        return session.run(tensors)

    def evaluate_if_both_tensors(self, a, b) -> Any:
        """The values of both if both are tensors of a graph; otherwise the two as they are."""
        if tensor.is_tensor(a) and tensor.is_tensor(b) and context.graph is not None:
            return self.evaluate([a, b])
        return a, b

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False) -> Iterator[Any]:
        """A session for the tests of a graph; eagerly, something whose `run` gives the values of tensors.

        Args:
            graph: the graph; otherwise the default one.
            config: a `ConfigProto`.
            use_gpu, force_gpu: accepted for compatibility.
        """
        if context.graph is None and graph is None:
            yield _EagerSession(self)
            return
        with Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=True, force_gpu=False) -> Iterator[Any]:
        """As `session`, but one test gets the same session each time.

        Raises:
            ValueError: when it is asked for another graph than before.
        """
        if context.graph is None and graph is None:
            yield _EagerSession(self)
            return
        wanted = get_default_graph() if graph is None else graph
        if self._kept_session is None:
            self._kept_session = Session(graph=wanted, config=config)
        elif self._kept_session.graph is not wanted:
            raise ValueError("The graph used to get the cached session is different than the one it was made with.")
        with wanted.as_default(), self._kept_session.as_default():
            yield self._kept_session

    def test_session(self, graph=None, config=None, use_gpu=True, force_gpu=False) -> Any:
        """The old name of `cached_session`. Its name makes it a test too: one that is skipped."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return self.cached_session(graph, config, use_gpu, force_gpu)

    def get_temp_dir(self) -> str:
        """A folder for the files of this test, which is removed after it."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix=f"{type(self).__name__}_")
            self.addCleanup(functools.partial(shutil.rmtree, self._folder, ignore_errors=True))
            self.addCleanup(setattr, self, "_folder", None)
        return self._folder

    @contextlib.contextmanager
    def captureWritesToStream(self, stream) -> Iterator[Any]:
        """Within this block, what is written to a stream with a file number is kept: see `contents()`."""
        stream.flush()
        number = stream.fileno()
        saved = os.dup(number)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), number)
            captured = _Captured(file)
            try:
                yield captured
            finally:
                stream.flush()
                captured.keep()
                os.dup2(saved, number)
                os.close(saved)

    def checkedThread(self, target, args=None, kwargs=None) -> Any:
        """A thread whose `join` fails the test with what the thread raised. It must be joined."""
        thread = _CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread


def _value(value):
    if isinstance(value, SparseTensor):
        return SparseTensorValue(value.indices.numpy(), value.values.numpy(), value.dense_shape.numpy())
    if isinstance(value, IndexedSlices):
        return IndexedSlices(_value(value.values), _value(value.indices), _value(value.dense_shape))
    if isinstance(value, RaggedTensor) or value is None:
        return value
    if callable(value) and not hasattr(value, "numpy"):
        return _value(value())
    return value.numpy() if hasattr(value, "numpy") else value


class _EagerSession:
    """What tests written for sessions get when they run eagerly."""

    def __init__(self, case):
        self._case = case

    def run(self, fetches, *args, **kwargs):
        """The values of tensors; feeding is for graphs."""
        if args or kwargs.get("feed_dict"):
            raise RuntimeError("run: only graphs can be fed. Put the test into `with tf.Graph().as_default():`.")
        return nest.map_structure(self._case.evaluate, fetches)


class _Captured:
    def __init__(self, file):
        self._file, self._text = file, None

    def keep(self):
        self._text = self.contents()

    def contents(self) -> str:
        """What was written until now."""
        if self._text is not None:
            return self._text
        self._file.seek(0)
        return self._file.read().decode(errors="replace")


class _CheckedThread:
    def __init__(self, case, target, args, kwargs):
        self._case, self._error, self._joined = case, None, False
        self._thread = threading.Thread(target=self._run, args=(target, args, kwargs), daemon=True)

    def _run(self, target, args, kwargs):
        try:
            target(*args, **kwargs)
        except BaseException as error:  # join tells it
            self._error = error

    def start(self):
        self._thread.start()

    def join(self):
        self._thread.join()
        self._joined = True
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def check_termination(self):
        """Fail when the thread was not joined."""
        if not self._joined:
            self._case.fail("A checked thread was not joined; call its join() in the test.")


@api("test.main", dispatch=False)
def main(argv=None) -> None:
    """Run the tests of the file that was started, or with `--benchmarks=PATTERN` its benchmarks, and exit.

    Args:
        argv: the command line; otherwise that of the program.
    """
    argv = list(sys.argv if argv is None else argv)
    for argument in argv[1:]:
        if argument.lstrip("-").startswith("benchmarks="):
            run_benchmarks(argument.partition("=")[2])
            sys.exit(0)
    absltest.main(argv=argv)
