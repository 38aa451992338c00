"""Summary writers, which of them is the default of a thread, and whether and with which step it records."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import current_name_scope, name_scope
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.thread_state import carried
from headrace._src.core.trackable import Trackable
from headrace._src.formats import files
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.graph.building.variable_creation import init_scope
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.math.comparison import LOGICAL_AND
from headrace._src.summary.writer_ops import (
    CLOSE_SUMMARY_WRITER,
    CREATE_SUMMARY_FILE_WRITER,
    FLUSH_SUMMARY_WRITER,
    SUMMARY_WRITER,
)

# The collection of a 1.x graph with the operations that make the files of its writers.
INITIALIZERS = "_SUMMARY_WRITER_V2"


class _Current(threading.local):
    """What holds for summaries of this thread."""

    writer: "SummaryWriter | None" = None
    step: Any = None
    condition: Any = None  # of `record_if`


current = carried(_Current())


class _Default:
    """What `as_default` returns: the writer is the default within its `with` block."""

    # A class rather than a generator: `set_as_default` enters it and never leaves.

    def __init__(self, writer, step):
        self._writer = writer
        self._step = step

    def __enter__(self) -> "SummaryWriter":
        self._before = (current.writer, current.step)
        current.writer = self._writer
        if self._step is not None:
            current.step = self._step
        return self._writer

    def __exit__(self, *exception) -> None:
        current.writer.flush()  # TF: whichever is the default now
        writer, step = self._before
        current.writer = writer
        if self._step is not None:
            current.step = step


@api("summary.SummaryWriter")
class SummaryWriter:
    """What takes summaries. `tf.summary.create_file_writer` makes one that writes them to a file."""

    def set_as_default(self, step=None) -> None:
        """From now on, summaries of this thread go to this writer.

        Args:
            step: the step of summaries that say none; None leaves it as it is.
        """
        self.as_default(step).__enter__()

    def as_default(self, step=None) -> Any:
        """A context within which summaries of this thread go to this writer, which is flushed at its end.

        Args:
            step: the step of summaries in the context that say none; None leaves it as it is.
        """
        return _Default(self, step)

    def init(self) -> Any:
        """Makes the file. In a 1.x graph: the operation that does."""
        raise NotImplementedError(f"{type(self).__name__}.init")

    def flush(self) -> Any:
        """Makes all that was written visible to readers."""
        raise NotImplementedError(f"{type(self).__name__}.flush")

    def close(self) -> Any:
        """Flushes and closes; the writer cannot be used any more."""
        raise NotImplementedError(f"{type(self).__name__}.close")


class FileWriter(SummaryWriter):
    """A writer to an event file.

    Args:
        make: returns the resource tensor.
        initialize: given that, makes the file.
    """

    def __init__(self, make, initialize):
        self._resource = make()
        self._initializer = initialize(self._resource)
        self._closed = False
        if context.graph is not None:
            context.graph.add_to_collection(INITIALIZERS, self._initializer)

    def _check_open(self):
        if context.graph is None and self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def as_default(self, step=None) -> Any:
        """See `SummaryWriter.as_default`."""
        self._check_open()
        return super().as_default(step)

    def init(self) -> Any:
        """See `SummaryWriter.init`."""
        self._check_open()
        return self._initializer

    def flush(self) -> Any:
        """See `SummaryWriter.flush`."""
        if context.graph is None and self._closed:
            return None
        return FLUSH_SUMMARY_WRITER(self._resource)

    def close(self) -> Any:
        """See `SummaryWriter.close`."""
        if context.graph is None:
            if self._closed:
                return None
            self._closed = True
            return CLOSE_SUMMARY_WRITER(self._resource)
        with control_dependencies([self.flush()]):
            return CLOSE_SUMMARY_WRITER(self._resource)


class TrackableFileWriter(FileWriter, Trackable):
    """A writer that may be part of a module that is saved: who loads it makes the file anew."""

    def __init__(self, make, initialize):
        self._make = make
        self._initialize_resource = initialize
        super().__init__(make, initialize)

    @property
    def resource_handle(self) -> Tensor:
        """The resource tensor by which ops know the writer."""
        return self._resource

    def _create_resource(self):
        return self._make()

    def _initialize(self):
        return self._initialize_resource(self._resource)


class _NoWriter(SummaryWriter):
    """See `create_noop_writer`."""

    def set_as_default(self, step=None) -> None:
        """Nothing changes."""

    @contextlib.contextmanager
    def as_default(self, step=None) -> Iterator[None]:
        """A context in which nothing changes."""
        yield

    def init(self) -> None:
        """Nothing is to be done."""

    def flush(self) -> None:
        """Nothing is to be done."""

    def close(self) -> None:
        """Nothing is to be done."""


@api("summary.create_noop_writer", dispatch=False)
def create_noop_writer() -> SummaryWriter:
    """A writer that does nothing, for code that expects one."""
    return _NoWriter()


@api("summary.create_file_writer", dispatch=False)
def create_file_writer(
    logdir,
    max_queue=None,
    flush_millis=None,
    filename_suffix=None,
    name=None,
    experimental_trackable=False,
    experimental_mesh=None,
) -> SummaryWriter:
    """A writer of summaries to a new event file, which TensorBoard shows.

    Args:
        logdir: the folder of the file: a string or `os.PathLike`, also of a remote store. It is made if needed.
        max_queue: as soon as more summaries wait than this, they are flushed; 10 by default.
        flush_millis: no summary waits longer than so many milliseconds; 120,000 by default.
        filename_suffix: the end of the file's name; ".v2" by default.
        name: a name for the operation.
        experimental_trackable: whether the writer may be an attribute of a `tf.Module` that is saved.
        experimental_mesh: must be None: there is no DTensor.

    Raises:
        ValueError: logdir is None, or an argument is a tensor of a graph.
        FailedPreconditionError, PermissionDeniedError ...: the file cannot be made.

    >>> writer = tf.summary.create_file_writer("/tmp/headrace_doc/logs")
    >>> with writer.as_default():
    ...     for step in range(3):
    ...         shown = tf.summary.scalar("loss", 0.5 ** step, step=step)
    >>> bool(shown)
    True
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if experimental_mesh is not None:
        raise NotImplementedError("create_file_writer: experimental_mesh: there is no DTensor here.")
    inside_function = context.graph is not None and context.graph.building_function
    with name_scope(name or "create_file_writer") as scope, init_scope():
        if context.graph is None:
            _refuse_symbolic(
                inside_function,
                logdir=logdir, max_queue=max_queue, flush_millis=flush_millis, filename_suffix=filename_suffix,
            )  # fmt: skip
        folder = to_tensor(_path_argument(logdir), dtypes.string)
        arguments = [
            to_tensor(10 if max_queue is None else max_queue, dtypes.int32),
            to_tensor(2 * 60 * 1000 if flush_millis is None else flush_millis, dtypes.int32),
            to_tensor(".v2" if filename_suffix is None else filename_suffix, dtypes.string),
        ]

        def make():
            # Eagerly nothing is shared by name; a session finds the writer of a 1.x graph by it.
            return SUMMARY_WRITER(shared_name="" if context.graph is None else scope.rstrip("/"), name=name)

        def initialize(resource):
            return CREATE_SUMMARY_FILE_WRITER(resource, folder, *arguments)

        return (TrackableFileWriter if experimental_trackable else FileWriter)(make, initialize)


def _path_argument(logdir):
    if isinstance(logdir, (str, bytes, Tensor)) or not hasattr(logdir, "__fspath__"):
        return logdir
    return files.path_string(logdir)


def _refuse_symbolic(inside_function, **arguments):
    for name, value in arguments.items():
        if not isinstance(value, Tensor) or isinstance(value, EagerTensor):
            continue
        if inside_function:
            raise ValueError(
                f"Invalid graph Tensor argument '{name}={value}' to create_file_writer() inside an @tf.function. The "
                "create call will be lifted into the outer eager execution context, so it cannot consume graph "
                "tensors defined inside the function body."
            )
        raise ValueError(f"Invalid graph Tensor argument '{name}={value}' to eagerly executed create_file_writer().")


# Whether and with which step is recorded.


@api("summary.record_if", dispatch=False)
@contextlib.contextmanager
def record_if(condition) -> Iterator[None]:
    """A context in which summaries of this thread are recorded only if a condition holds.

    Args:
        condition: a bool, a scalar boolean tensor, or a function that returns one of these. A function is called at
            each summary; when that is in a `tf.function`, it becomes part of its graph.

    >>> writer = tf.summary.create_file_writer("/tmp/headrace_doc/logs")
    >>> with writer.as_default(), tf.summary.record_if(False):
    ...     print(bool(tf.summary.scalar("loss", 0.5, step=1)))
    False
    """
    before, current.condition = current.condition, condition
    try:
        yield
    finally:
        current.condition = before


def recording() -> Any:
    """Whether summaries are recorded now: a bool, or a scalar boolean tensor of a graph."""
    if current.writer is None:
        return False
    condition = current.condition
    if condition is None or condition is True:
        return True
    if callable(condition):
        condition = condition()
    if isinstance(condition, bool):
        return condition
    condition = to_tensor(condition, dtypes.bool)
    known = get_static_value(condition)
    return condition if known is None else bool(known)


@api("summary.should_record_summaries", dispatch=False)
def should_record_summaries() -> Tensor:
    """Whether summaries are recorded now, as a boolean tensor: there is a default writer, and `record_if` allows it."""
    result = recording()
    if isinstance(result, Tensor):
        return LOGICAL_AND(True, result)
    return to_tensor(result)


@api("summary.experimental.get_step", dispatch=False)
def get_step() -> Any:
    """The step of summaries of this thread that say none; None if they must say one."""
    return current.step


@api("summary.experimental.set_step", dispatch=False)
def set_step(step) -> None:
    """Sets the step of summaries of this thread that say none.

    A function that was traced keeps the step of then, unless it is a `tf.Variable`.

    Args:
        step: an int, an int64 tensor or variable; None: summaries must say one.

    >>> tf.summary.experimental.set_step(7)
    >>> tf.summary.experimental.get_step()
    7
    >>> tf.summary.experimental.set_step(None)
    """
    current.step = step


def step_tensor(step) -> Tensor:
    """A step as an int64 scalar.

    Raises:
        ValueError: it is a tensor of another dtype, or no scalar.
    """
    tensor = to_tensor(step, dtypes.int64)
    if tensor.shape.num_elements() != 1:
        raise ValueError(f"Argument `step` must be a scalar. Received step with shape {tensor.shape}.")
    return tensor


def scope_now() -> str:
    """The prefix of tags: the open name scope with a slash, or nothing."""
    scope, graph = current_name_scope(), context.graph
    if graph is not None and graph.body_scope:
        scope = f"{graph.body_scope}/{scope}"  # the body of a conditional or a loop
    return f"{scope.removesuffix('/')}/" if scope else ""


@api("summary.flush", dispatch=False)
def flush(writer=None, name=None) -> Any:
    """Makes what was written visible to readers.

    Args:
        writer: a `SummaryWriter`; the default one if None, and if there is none, nothing happens.
        name: ignored.

    Raises:
        ValueError: writer is something else.
    """
    writer = current.writer if writer is None else writer
    if writer is None:
        return None
    if not isinstance(writer, SummaryWriter):
        raise ValueError(f"Invalid argument to flush(): {writer!r}")
    return writer.flush()
