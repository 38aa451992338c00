"""`tf.profiler.experimental.start` and `stop`: recording what runs, and writing it where TensorBoard looks for it."""

import logging
import threading
import time
from typing import NamedTuple

from headrace._src.core import errors
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.profiler.python_calls import PythonCalls
from headrace._src.profiler.recording import Recorder, current
from headrace._src.profiler.time_line import host_name, run_name, space_of
from headrace._src.profiler.timing import Timing
from headrace._src.profiler.xla_time_line import XlaRecording, shifted_space

logger = logging.getLogger("headrace")


@api("profiler.experimental.ProfilerOptions", dispatch=False)
class ProfilerOptions(NamedTuple):
    """What a profile has in it.

    >>> tf.profiler.experimental.ProfilerOptions(host_tracer_level=1).host_tracer_level
    1
    """

    # 0: nothing of the host's. 1: functions, tracing, compiling, iterators, and the user's own `Trace`.
    # 2 and above: also each op, and each step of input pipelines.
    host_tracer_level: int = 2
    # 1: also each call of a Python function, which makes the program several times slower.
    python_tracer_level: int = 0
    # 1: also the inside of compiled programs, as XLA tells of it.
    device_tracer_level: int = 1
    # Milliseconds to wait before a profile that `client.trace` asks for begins.
    delay_ms: int | None = None


class Session:
    """One recording: everything that runs in this process from its making until `end`."""

    def __init__(self, options: ProfilerOptions):
        self.recorder = Recorder()
        self._xla = XlaRecording() if options.device_tracer_level else None
        before_program = self._xla.before_program if self._xla is not None else lambda: None
        self._timing = Timing(self.recorder, options.host_tracer_level, before_program)
        self._calls = PythonCalls(self.recorder) if options.python_tracer_level else None
        if self._xla is not None:
            self._xla.begin()
        if options.host_tracer_level:
            current.recorder = self.recorder
            self._timing.begin()
        if self._calls is not None:
            self._calls.begin()

    def end(self) -> bytes:
        """Stop recording; returns the `XSpace` as bytes."""
        if self._calls is not None:
            self._calls.end()
        self._timing.end()
        current.recorder = None
        self.recorder.stop()
        data = None if self._xla is None else self._xla.end()
        space = space_of(self.recorder, None if data is None else shifted_space(data, self.recorder.begin_unix))
        space.warnings.extend([] if self._xla is None else self._xla.warnings)
        return space.SerializeToString()


class _Running:
    """The session of `start`, and where it is to be saved."""

    session: Session | None = None
    logdir = ""
    lock = threading.Lock()


def begin_session(options: ProfilerOptions | None, logdir: str = "") -> Session:
    """Begin the only session of this process.

    Raises:
        AlreadyExistsError: there is one.
    """
    with _Running.lock:
        if _Running.session is not None:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        _Running.logdir = logdir
        _Running.session = Session(options or ProfilerOptions())
        return _Running.session


def end_session() -> tuple[bytes, str]:
    """End it; returns the `XSpace` as bytes, and the log folder that it began with.

    Raises:
        UnavailableError: there is none.
    """
    with _Running.lock:
        session, _Running.session = _Running.session, None
        if session is None:
            raise errors.UnavailableError(
                None, None, "Cannot export profiling results. No profiler is running."
            )  # fmt: skip
        return session.end(), _Running.logdir


@api("profiler.experimental.start", dispatch=False)
def start(logdir, options=None) -> None:
    """Begin to record what runs: eager ops, functions, tracing, compiling, input pipelines, with the user's lines.

    `stop` writes it to `<logdir>/plugins/profile`, where the profile page of TensorBoard finds it (`pip install
    tensorboard xprof`). Recording costs about a microsecond for each op.

    Args:
        logdir: the log folder.
        options: `tf.profiler.experimental.ProfilerOptions`.

    Raises:
        AlreadyExistsError: a profile is being recorded.
    """
    begin_session(options, files.path_string(logdir))


@api("profiler.experimental.stop", dispatch=False)
def stop(save=True) -> None:
    """End the recording that `start` began, and write it.

    Args:
        save: False to throw it away.

    Raises:
        UnavailableError: nothing is being recorded.
    """
    data, logdir = end_session()
    if save:
        save_profile(logdir, data)


def save_profile(logdir: str, data: bytes) -> str:
    """Write an `XSpace` into a new folder of a log folder, at once or not at all; returns the path."""
    root = f"{logdir.rstrip('/')}/plugins/profile"
    seconds = int(time.time())
    while files.exists(f"{root}/{run_name(seconds)}/{host_name()}.xplane.pb"):
        seconds += 1  # two profiles in a second: both stay
    folder = f"{root}/{run_name(seconds)}"
    files.make_directories(folder)
    path = f"{folder}/{host_name()}.xplane.pb"
    files.write(path, data)
    logger.info("headrace: a profile was written to %s", path)
    return path


@api("profiler.experimental.Profile", dispatch=False)
class Profile:
    """Records a profile of a block: `with tf.profiler.experimental.Profile("logs"): ...`.

    Args:
        logdir: the log folder.
        options: `tf.profiler.experimental.ProfilerOptions`.
    """

    def __init__(self, logdir, options=None) -> None:
        self._logdir = logdir
        self._options = options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, kind, value, traceback) -> None:
        stop()
