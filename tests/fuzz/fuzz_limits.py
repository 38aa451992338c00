"""What a reader must not do: take much memory, touch other files, start programs, run code; and stopping in time."""

import contextlib
import os
import pathlib
import resource
import signal
import sys
import sysconfig

# Open from the beginning: opening it would be noticed as touching a file.
_PAGES = os.open("/proc/self/clear_refs", os.O_WRONLY) if os.path.exists("/proc/self/clear_refs") else None
_STATUS = os.open("/proc/self/status", os.O_RDONLY) if os.path.exists("/proc/self/status") else None


def fast_folder() -> str | None:
    """Where temporary files stay in memory, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class TooLong(BaseException):
    """The time of a part of the trial that may take any time is over. No exception that a library would catch."""


@contextlib.contextmanager
def stopped_after(seconds):
    """Raises TooLong in the block once it has taken so much of the processor's time. For the main thread."""

    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)  # again and again, if something has caught it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Memory:
    """How much more memory this process has had since this was made, at the most at once.

    What is compared is the highest use so far, which starts anew only after it has grown: so at most `_LITTLE` is not
    seen of what an input takes, and an input that takes little costs no calls of the system to speak of.
    """

    def __init__(self):
        self._before = _highest()

    def grown(self) -> float:
        """In megabytes."""
        grown = (_highest() - self._before) / 1e6
        if grown > _LITTLE:
            forget_highest()
        return grown


def forget_highest() -> None:
    """Let the highest use of memory start anew."""
    if _PAGES is not None:
        with contextlib.suppress(OSError):
            os.write(_PAGES, b"5")


_LITTLE = 16  # megabytes
_UNIT = 1 if sys.platform == "darwin" else 1024


def _highest():
    """The highest use of memory, in bytes. That of `getrusage` begins with what the parent had."""
    if _STATUS is not None:
        _, found, rest = os.pread(_STATUS, 4096, 0).partition(b"VmHWM:")
        if found:
            return int(rest.split(None, 1)[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def limit_memory(megabytes: int | None) -> None:
    """Lets allocations fail that would take so much more than the process has now, rather than the machine.

    Args:
        megabytes: None for no limit.
    """
    hardest = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if megabytes is None:
        resource.setrlimit(resource.RLIMIT_DATA, (hardest, hardest))
        return
    try:
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith("VmData"))
    except OSError:
        return
    limit = int(line.split()[1]) * 1024 + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hardest))


# Events of Python's audit hooks that must not come with a path outside of the folder, or at all.
_PATHS = {"open": 0, "os.remove": 0, "os.rename": 1, "os.rmdir": 0, "os.mkdir": 0, "os.listdir": 0, "os.scandir": 0,
          "os.truncate": 0, "os.symlink": 1, "os.link": 1, "os.chmod": 0, "shutil.rmtree": 0}  # fmt: skip
_NEVER = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind",
          "pickle.find_class", "ctypes.dlopen", "webbrowser.open"}  # fmt: skip
_LIBRARIES = tuple(
    {
        *(os.path.realpath(path) for path in sysconfig.get_paths().values()),
        os.path.realpath(sys.prefix),
        os.path.realpath(sys.base_prefix),
        str(pathlib.Path(__file__).resolve().parents[2]),
        "/proc",
        "/sys",
        "/dev/null",
        "/dev/urandom",
        "/etc",
        "/usr/lib",
        "/usr/share",
    }
)
_watching: list = []  # the folder and the list of what was touched, while a trial runs
_installed: list = []


@contextlib.contextmanager
def watched(folder):
    """Gives a list, to which the block's touching anything outside of the folder is added. Importing is allowed."""
    if not _installed:
        sys.addaudithook(_note)
        _installed.append(True)
    touched: list[str] = []
    _watching.append((os.path.realpath(folder), touched))
    try:
        yield touched
    finally:
        _watching.pop()


def _note(event, arguments):
    if not _watching or not (event in _PATHS or event in _NEVER):
        return
    folder, touched = _watching[-1]
    if event in _NEVER:
        if not _compiles(event, arguments):
            touched.append(f"{event}{arguments[:2]!r}")
        return
    path = arguments[_PATHS[event]]
    if isinstance(path, int) or path is None:
        return
    try:
        place = os.path.realpath(os.fsdecode(path))
    except (TypeError, ValueError):  # such paths cannot be opened
        return
    if place == folder or place.startswith(folder + os.sep):
        return
    reading = event in ("os.listdir", "os.scandir") or (event == "open" and _reads(arguments))
    if reading and place.startswith(_LIBRARIES):
        return
    touched.append(f"{event} {place}")


def _compiles(event, arguments):
    """Whether this is how functions with `jit_compile=True` are compiled: our own process, and what it answers."""
    if event == "pickle.find_class":
        return arguments[0].startswith(("jaxlib", "jax", "headrace.", "numpy"))
    return event in ("subprocess.Popen", "os.posix_spawn") and "headrace._src.graph.compiling.worker" in arguments[1]


def _reads(arguments):
    mode, flags = arguments[1], arguments[2]
    if isinstance(mode, str):
        return not any(letter in mode for letter in "wax+")
    return not (flags or 0) & (os.O_WRONLY | os.O_RDWR)
