"""The queue of what is to be compiled in the background, and the process that does it.

One thread takes the jobs in turn, has each compiled by a process of low priority, and loads the program. The process
is started when first needed, killed when this one ends, and never waited for. Where it cannot be had, the thread
compiles itself; but what has ended the process twice is not compiled at all.
"""

import atexit
import collections
import contextlib
import hashlib
import logging
import os
import pickle
import subprocess
import sys
import threading
import weakref

from headrace._src.core import operating_system
from headrace._src.core.tracebacks import PARENT
from headrace._src.graph.compiling import program_store
from headrace._src.graph.compiling.lowering import CannotLower
from headrace._src.graph.compiling.programs import Built
from headrace._src.graph.compiling.worker import READY, answer, read_message, write_message

logger = logging.getLogger("headrace")

# How much lower the priority of the process is. Matrix products of the caller wait for all their threads: none of these
# must wait for the process.
_NICENESS = 19
# After how many seconds without a job the process ends: it has a hundred megabytes, and starts again in a second.
_IDLE = 60.0
# How often a process is started that dies before it is ready, or a job given to one that dies of it.
_ATTEMPTS = 2
# Digests of the requests of which processes have died.
_deadly: set[bytes] = set()


class DeadlyJob(Exception):
    """A job that ends any process that is given it; the function stays interpreted."""

    def __init__(self, name=""):
        super().__init__(
            f"the compiling process died {_ATTEMPTS} times of {name or 'this function'}; it is not tried again"
        )


def refuse_deadly(request: bytes) -> None:
    """Refuse what has ended the compiling process before.

    Raises:
        DeadlyJob: it has.
    """
    if _deadly and _digest(request) in _deadly:
        raise DeadlyJob()


def _digest(request):
    return hashlib.sha256(request).digest()


class Job:
    """Something to compile.

    Attributes:
        done: set when `result` is there.
        result: what `finish` made of the program, a CannotLower, or another exception.
        deaths: how many processes have died of it.
    """

    def __init__(self, owner, block, signature, finish, name=""):
        """
        Args:
            owner: what the program is for; when that is gone, the job is dropped.
            block, signature: see `programs.build`.
            finish: called with the `Built` program, in the thread of the queue; loads it.
            name: of the function, for time lines.
        """
        self._owner = weakref.ref(owner)
        self.block = block
        self.signature = signature
        self.finish = finish
        self.name = name
        self.done = False
        self.deaths = 0
        self.result = None
        self._event = threading.Event()

    @property
    def is_wanted(self) -> bool:
        return self._owner() is not None

    def complete(self, result):
        """Say what came of it."""
        self.result = result
        self.finish = self.block = None
        self.done = True
        self._event.set()

    def wait(self, seconds=None) -> bool:
        """Wait until the job is done, at most for so many seconds. Returns whether it is done."""
        return self._event.wait(seconds)


class CompileQueue:
    """Jobs, a thread, and a process.

    Args:
        niceness: how much lower than usual the priority of the process is.
        idle: after how many seconds without a job the process ends; the next job starts another.
    """

    def __init__(self, niceness=_NICENESS, idle=_IDLE):
        self._niceness = niceness
        self._idle = idle
        self._jobs: collections.deque[Job] = collections.deque()
        self._changed = threading.Condition()
        self._thread = None
        self._worker = None
        self._has_worker = True  # until it turns out that there cannot be one
        self._is_closing = False
        self._is_busy_here = False  # whether the thread does something that must not be cut off

    def submit(self, job: Job):
        """Compile in the background, after what was submitted before."""
        with self._changed:
            if self._is_closing:
                return
            self._jobs.append(job)
            if self._thread is None:
                # Looking at many files takes milliseconds here. Beside a thread that computes, each of them would hand
                # the interpreter's lock over and back: a tenth of a second, in which every step takes twice as long.
                program_store.prepare()
                self._thread = threading.Thread(target=self._work, name="headrace compiler", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _work(self):
        while True:
            with self._changed:
                while not self._jobs and not self._is_closing:
                    if not self._changed.wait(None if self._worker is None else self._idle):
                        self._rest()
                if self._is_closing:
                    return
            self._do_next()

    def _rest(self):
        """End the process, whose memory others may need."""
        self._worker.end()
        self._worker.forget()
        self._worker = None

    def _do_next(self):
        with self._changed:
            job = self._jobs.popleft() if self._jobs else None
        if job is None or not job.is_wanted:
            if job is not None:
                job.complete(None)
            return
        job.complete(self._result(job))

    def _result(self, job):
        try:
            with _gently():
                request = pickle.dumps((job.block, job.signature), pickle.HIGHEST_PROTOCOL)
                name = program_store.name_of(request, job.block)
                kept = None if name is None else program_store.read(name)
            if kept is not None:
                try:
                    return self._finished(job, kept)
                except Exception as error:  # it was made by another release of XLA, say
                    logger.debug("A kept program cannot be loaded: %s", error)
                    program_store.discard(name)
            built = self._built(request, job)
            if not isinstance(built, Built):
                return built
            if name is not None:
                program_store.write(name, built)
            return self._finished(job, built)
        except Exception as error:  # whatever it is, the function stays interpreted
            logger.debug("A function stays interpreted: %s", error, exc_info=True)
            return error

    def _finished(self, job, built):
        with self._here(), _gently():
            return job.finish(built) if job.is_wanted else None

    @contextlib.contextmanager
    def _here(self):
        """Something that the end of the program waits for."""
        with self._changed:
            if self._is_closing:
                raise RuntimeError("The program ends.")
            self._is_busy_here = True
        try:
            yield
        finally:
            with self._changed:
                self._is_busy_here = False
                self._changed.notify_all()

    def _built(self, request, job):
        refuse_deadly(request)
        reply = self._ask_worker(request, job) if self._has_worker else None
        result = None if reply is None else pickle.loads(reply)
        if not isinstance(result, (Built, CannotLower)):
            # No process, or one that does not know an op that is defined here.
            if isinstance(result, str):
                logger.debug("The compiling process says: %s", result)
            with self._here():
                result = pickle.loads(answer(request))
            if isinstance(result, str):
                raise RuntimeError(result)
        return result

    def _ask_worker(self, request, job):
        """What the process answers; None where there can be none.

        Raises:
            DeadlyJob: the process has died of the request, and another one too.
        """
        for _ in range(_ATTEMPTS):
            if self._worker is None and not self._start():
                self._has_worker = False
                logger.warning(
                    "headrace: no process for compiling could be started; functions are compiled in a thread."
                )
                return None
            try:
                write_message(self._worker.requests, request)
                reply = read_message(self._worker.replies)
            except OSError:
                reply = None
            if reply is not None:
                return reply
            self._bury()
            job.deaths += 1
        _deadly.add(_digest(request))
        raise DeadlyJob(job.name)

    def _bury(self):
        """Forget the process, which is dead."""
        with self._changed:
            if self._is_closing:
                raise RuntimeError("The program ends.")
            self._worker.end()
            self._worker.forget()
            self._worker = None

    def _start(self):
        """Start the process; whether there is one now, which has said that it is ready."""
        for _ in range(_ATTEMPTS):
            with _gently():
                worker = _start_worker(self._niceness)
            with self._changed:
                if worker is not None and self._is_closing:
                    worker.end()
                    worker.forget()
                    raise RuntimeError("The program ends.")
                self._worker = worker
            if worker is None:
                return False
            try:
                if read_message(worker.replies) == READY:
                    return True
            except OSError:
                pass
            self._bury()
        return False

    def close(self):
        """End the process and the thread; wait only for what must not be cut off."""
        with self._changed:
            self._is_closing = True
            self._jobs.clear()
            self._changed.notify_all()
            worker = self._worker
            if worker is not None:
                worker.end()
            while self._is_busy_here:
                self._changed.wait()

    def forget(self):
        """In a forked process: what was there belongs to the other one."""
        worker = self._worker
        self.__init__(self._niceness, self._idle)
        if worker is not None:
            worker.forget()


class _Worker:
    """The process, and the pipes to and from it."""

    def __init__(self, process, requests, replies):
        self.process = process
        self.requests = requests
        self.replies = replies

    def end(self):
        """Kill it. The pipes stay open: the thread that reads from them closes them."""
        self.process.kill()
        self.process.wait()

    def forget(self):
        """Nothing more is heard of it: it is dead, or belongs to the process that this one was forked from."""
        os.close(self.requests)
        os.close(self.replies)
        self.process.returncode = 0


def _start_worker(niceness):
    if not sys.executable:
        return None
    root = PARENT
    environment = dict(os.environ)
    paths = [root, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    environment["JAX_PLATFORMS"] = "cpu"
    environment["OPENBLAS_NUM_THREADS"] = "1"  # folding constants must not wait for a processor that is busy
    environment[program_store.VARIABLE] = "0"  # the thread keeps what the process makes
    there, requests = os.pipe()
    replies, back = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "headrace._src.graph.compiling.worker", str(niceness)],
            stdin=there,
            stdout=back,
            stderr=subprocess.DEVNULL,
            env=environment,
            **operating_system.in_the_background(niceness),  # an interrupt is for the program, not for it
        )
    except OSError:
        os.close(requests)
        os.close(replies)
        return None
    finally:
        os.close(there)
        os.close(back)
    return _Worker(process, requests, replies)


@contextlib.contextmanager
def _gently():
    """Let other threads have the interpreter more often while this one imports and loads.

    A step of a training gives it up at each product and each large array, and then waits for this thread.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, 0.0002))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def built_here(block, signature) -> Built:
    """Compile in this process and thread, or take what is kept on disk.

    Raises:
        CannotLower: an instruction that a program cannot have.
        DeadlyJob: the compiling process has died of it.
    """
    if program_store.folder() is None and not _deadly:
        return signature.build(block)
    request = pickle.dumps((block, signature), pickle.HIGHEST_PROTOCOL)
    name = program_store.name_of(request, block)
    built = None if name is None else program_store.read(name)
    if built is None:
        refuse_deadly(request)
        built = signature.build(block)
        if name is not None:
            program_store.write(name, built)
    return built


def loaded_here(block, signature, load):
    """The same, loaded: a program from disk that cannot be is compiled anew.

    Args:
        block, signature: see `programs.build`.
        load: makes what can be called of a `Built`.
    """
    built = built_here(block, signature)
    try:
        return load(built)
    except Exception:
        name = program_store.name_of(pickle.dumps((block, signature), pickle.HIGHEST_PROTOCOL), block)
        if name is None:
            raise
        program_store.discard(name)
        return load(built_here(block, signature))


queue = CompileQueue()
atexit.register(lambda: queue.close())
operating_system.at_fork(in_child=lambda: queue.forget())
