"""The queue of what is to be compiled in the background, and the process that does it.

One thread takes the jobs in turn, has each compiled by a process of low priority, and loads the program. The process
is started when first needed, killed when this one ends, and never waited for. Where it cannot be had, the thread
compiles itself.
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

from headrace._src.core.lazy import jax
from headrace._src.core.product_threads import one_processor_left
from headrace._src.core.random_state import random_state
from headrace._src.core.tracebacks import PARENT
from headrace._src.graph.compiling.lowering import CannotLower
from headrace._src.graph.compiling.programs import Built, build
from headrace._src.graph.compiling.worker import answer, read_message, write_message
from headrace._src.version import HEADRACE_VERSION

logger = logging.getLogger("headrace")

# How much lower the priority of the process is. Matrix products of the caller wait for all their threads: none of these
# must wait for the process.
_NICENESS = 19
# The environment variable that names a directory in which programs are kept from run to run.
CACHE_VARIABLE = "HEADRACE_COMPILE_CACHE"


class Job:
    """Something to compile.

    Attributes:
        done: set when `result` is there.
        result: what `finish` made of the program, a CannotLower, or another exception.
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
    """

    def __init__(self, niceness=_NICENESS):
        self._niceness = niceness
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
                self._thread = threading.Thread(target=self._work, name="headrace compiler", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _work(self):
        while True:
            with self._changed:
                while not self._jobs and not self._is_closing:
                    self._changed.wait()
                if self._is_closing:
                    return
            self._do_next()

    def _do_next(self):
        with self._changed:
            job = self._jobs.popleft() if self._jobs else None
        if job is None or not job.is_wanted:
            if job is not None:
                job.complete(None)
            return
        # The last bits of a matrix product can depend on the number of threads.
        with one_processor_left(unless=lambda: random_state.is_exact):
            result = self._result(job)
        job.complete(result)

    def _result(self, job):
        try:
            request = pickle.dumps((job.block, job.signature), pickle.HIGHEST_PROTOCOL)
            built = self._built(request)
            if isinstance(built, Built):
                with self._here(), _gently():
                    return job.finish(built) if job.is_wanted else None
            return built
        except Exception as error:  # whatever it is, the function stays interpreted
            logger.debug("A function stays interpreted: %s", error, exc_info=True)
            return error

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

    def _built(self, request):
        cache = cache_file(request)
        if cache is not None:
            found = read_cache(cache)
            if found is not None:
                return found
        reply = self._ask_worker(request) if self._has_worker else None
        result = None if reply is None else pickle.loads(reply)
        if not isinstance(result, (Built, CannotLower)):
            # No process, or one that does not know an op that is defined here.
            if isinstance(result, str):
                logger.debug("The compiling process says: %s", result)
            with self._here():
                result = pickle.loads(answer(request))
            if isinstance(result, str):
                raise RuntimeError(result)
        if cache is not None and isinstance(result, Built):
            write_cache(cache, result)
        return result

    def _ask_worker(self, request):
        for _ in range(2):  # it may have died
            try:
                if self._worker is None and not self._start():
                    break
                write_message(self._worker.requests, request)
                reply = read_message(self._worker.replies)
            except OSError:
                reply = None
            if reply is not None:
                return reply
            with self._changed:
                if self._is_closing:
                    raise RuntimeError("The program ends.")
                self._worker.end()
                self._worker.forget()
                self._worker = None
        self._has_worker = False
        logger.warning("headrace: no process for compiling could be started; functions are compiled in a thread.")
        return None

    def _start(self):
        """Start the process; whether there is one now."""
        worker = _start_worker(self._niceness)
        with self._changed:
            if worker is not None and self._is_closing:
                worker.end()
                worker.forget()
                raise RuntimeError("The program ends.")
            self._worker = worker
        return worker is not None

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
        self.__init__(self._niceness)
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
    environment.pop(CACHE_VARIABLE, None)
    there, requests = os.pipe()
    replies, back = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "headrace._src.graph.compiling.worker", str(niceness)],
            stdin=there,
            stdout=back,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # an interrupt from the keyboard is for the program, not for it
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
    """Let other threads have the interpreter more often while this one imports and loads."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, 0.0005))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def built_here(block, signature) -> Built:
    """Compile in this process and thread, or take what is kept on disk.

    Raises:
        CannotLower: an instruction that a program cannot have.
    """
    if not os.environ.get(CACHE_VARIABLE):
        return build(block, signature)
    path = cache_file(pickle.dumps((block, signature), pickle.HIGHEST_PROTOCOL))
    built = read_cache(path)
    if built is None:
        built = build(block, signature)
        write_cache(path, built)
    return built


# Programs kept on disk.


def cache_file(request: bytes) -> str | None:
    """Where the program for a request is kept; None when nothing is to be kept."""
    directory = os.environ.get(CACHE_VARIABLE)
    if not directory:
        return None
    digest = hashlib.sha256(request)
    for part in (HEADRACE_VERSION, jax.__version__, sys.version, _processor()):
        digest.update(part.encode())
    return os.path.join(directory, f"{digest.hexdigest()}.program")


def _processor():
    """What the machine code depends on."""
    try:
        with open("/proc/cpuinfo") as file:
            return "".join(sorted({line for line in file if line.startswith(("flags", "model name"))}))
    except OSError:
        return ""


def read_cache(path) -> Built | None:
    """A program that was kept; None when there is none or it is damaged."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    digest, content = data[:32], data[32:]
    if hashlib.sha256(content).digest() != digest:
        return None
    return pickle.loads(content)


def write_cache(path, built):
    """Keep a program: wholly or not at all."""
    content = pickle.dumps(built, pickle.HIGHEST_PROTOCOL)
    temporary = f"{path}.{os.getpid()}.{threading.get_ident()}"  # two threads may keep the same program
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except OSError as error:
        logger.warning("headrace: a compiled program could not be kept: %s", error)


queue = CompileQueue()
atexit.register(lambda: queue.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: queue.forget())
