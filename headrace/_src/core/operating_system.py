"""What differs between operating systems. Everything else in headrace asks this file.

headrace is tested on Linux; what stands here about macOS and Windows is from their documents, and tests put stand-ins
in the places of the modules below. Each function asks the system when it is called, never earlier.
See docs/decisions/0044-operating-systems.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headrace._src.core.lazy import LazyModule, multiprocessing, shared_memory

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

mmap = LazyModule("mmap")
platform = LazyModule("platform")
signal = LazyModule("signal")
subprocess = LazyModule("subprocess")
tempfile = LazyModule("tempfile")


def _is_windows():
    return os.name == "nt"


# Processors and memory.


def processor_count() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux: containers and taskset give a process fewer than there are
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


_CPU_FEATURES = ("flags", "Features")  # of x86, and of ARM
_CPU_LINES = ("model name", "CPU implementer", "CPU part")


def processor_kind() -> str:
    """What machine code depends on: equal for two processors only if both run the code that was made for one.

    Empty where the system does not say which instructions the processor has.
    """
    if sys.platform == "darwin":
        brand = _macos_brand()
        return f"{platform.machine()} {brand}" if brand else ""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        with open("/proc/cpuinfo") as file:
            found = sorted({line for line in file if line.startswith((*_CPU_FEATURES, *_CPU_LINES))})
    except OSError:
        return ""
    return "".join(found) if any(line.startswith(_CPU_FEATURES) for line in found) else ""


def _macos_brand():
    buffer, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
    ctypes.CDLL(None).sysctlbyname(b"machdep.cpu.brand_string", buffer, ctypes.byref(size), None, 0)
    return buffer.value.decode(errors="replace")


# Of <malloc.h> of the GNU C library.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _MMAP_MAX_DEFAULT = -1, -3, -4, 65536
# Arrays up to this many bytes come from memory that is kept, of which at most so much lies free at the end.
LARGEST_KEPT, FREE_AT_MOST = 32 << 20, 256 << 20
_LARGEST_INT = (1 << 31) - 1  # of C, in which the library takes these numbers


def keep_freed_memory() -> bool:
    """Let freed memory of arrays be used for the next ones; whether this system can be told so.

    The GNU C library gives each array above 128 kB back to the system when it is freed, and asks for fresh pages for
    the next one; writing these for the first time costs several times what the arithmetic on them does. See
    docs/decisions/0024-memory.md. `HEADRACE_KEEP_MEMORY=0` in the environment leaves the library as it is.
    """
    mallopt = _mallopt()
    return bool(mallopt and mallopt(_MMAP_THRESHOLD, LARGEST_KEPT) and mallopt(_TRIM_THRESHOLD, FREE_AT_MOST))


def _mallopt():
    """The function of the GNU C library that says how it gets memory; None where there is none, or it is not wanted."""
    if not sys.platform.startswith("linux") or os.environ.get("HEADRACE_KEEP_MEMORY") == "0":
        return None
    try:
        return ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return None


class _Free:
    """How much freed memory is kept at the end."""

    lock = threading.Lock()
    kept = FREE_AT_MOST


def keep_free(size: int) -> None:
    """Keep so many bytes of freed memory from now on, or a quarter of the machine's memory if that is less.

    For what takes this much in each of many calls: giving it back after each costs as much as computing in it.
    """
    mallopt = _mallopt()
    if mallopt is None or size <= FREE_AT_MOST:
        return
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    with _Free.lock:
        wanted = min(size + FREE_AT_MOST, limit, _LARGEST_INT)
        if wanted > _Free.kept and mallopt(_TRIM_THRESHOLD, wanted):
            _Free.kept = wanted


class KeptMemory:
    """While a `with` of it is open, memory of every size comes from what is kept, not only up to `LARGEST_KEPT`.

    For a call that takes one large block and frees it before it returns: whatever is taken later then lies before or in
    its place, and not behind it.
    """

    def __init__(self):
        self._mallopt = _mallopt()
        self._lock = threading.Lock()
        self._open = 0

    def __enter__(self):
        with self._lock:
            self._open += 1
            if self._open == 1 and self._mallopt:
                self._mallopt(_MMAP_MAX, 0)

    def __exit__(self, *exception):
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._mallopt:
                self._mallopt(_MMAP_MAX, _MMAP_MAX_DEFAULT)


# Processes.


def at_fork(
    in_child: Callable[[], object] | None = None,
    before: Callable[[], object] | None = None,
    in_parent: Callable[[], object] | None = None,
) -> None:
    """Have functions called around each fork of this process; where there are no forks, never."""
    if hasattr(os, "register_at_fork"):
        functions = {"before": before, "after_in_parent": in_parent, "after_in_child": in_child}
        os.register_at_fork(**{when: function for when, function in functions.items() if function is not None})


def is_running(process: int) -> bool:
    """Whether a process of this machine is alive; True also where that cannot be found out."""
    if process <= 0:
        return False  # for kill, a group of processes
    if _is_windows():
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


# Of <winnt.h>, <winerror.h> and <minwinbase.h>.
_PROCESS_QUERY_LIMITED_INFORMATION, _ERROR_INVALID_PARAMETER, _STILL_ACTIVE = 0x1000, 87, 259


def _is_running_on_windows(process):
    # os.kill would not ask there, but interrupt the process or end it.
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.OpenProcess.restype = ctypes.c_void_p
    kernel.GetExitCodeProcess.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    kernel.CloseHandle.argtypes = [ctypes.c_void_p]
    handle = kernel.OpenProcess(_PROCESS_QUERY_LIMITED_INFORMATION, False, process)
    if not handle:
        return ctypes.get_last_error() != _ERROR_INVALID_PARAMETER  # type: ignore[attr-defined]
    try:
        code = ctypes.c_ulong()
        return not kernel.GetExitCodeProcess(handle, ctypes.byref(code)) or code.value == _STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)


def in_the_background(niceness: int) -> dict[str, Any]:
    """Arguments of `subprocess.Popen` for a process that interrupts from the keyboard do not reach.

    Args:
        niceness: how much lower its priority is to be. Where it must lower that itself, with `lower_priority`, nothing
            is said about it here.
    """
    if _is_windows():
        flags = subprocess.CREATE_NEW_PROCESS_GROUP
        return {"creationflags": flags | subprocess.IDLE_PRIORITY_CLASS if niceness else flags}
    return {"start_new_session": True}


def interrupt_process(process: Any) -> None:
    """Pass Ctrl-C on to a process that it does not reach."""
    process.send_signal(signal.CTRL_BREAK_EVENT if _is_windows() else signal.SIGINT)


def text_of_exit(code: int) -> str:
    """How a process has ended, from its exit code."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def keep_to_processor(number: int) -> None:
    """Let this process, and those that it starts, use one of its processors only, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        own = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {own[number % len(own)]})


def lower_priority(niceness: int) -> None:
    """Let this process wait for others, where that was not said when it was started."""
    if hasattr(os, "nice"):
        os.nice(niceness)


def ignore_interrupts() -> None:
    """Leave interrupts from the keyboard to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def interrupted_later() -> Iterator[None]:
    """Ctrl-C waits until a library is imported: it is answered then.

    A KeyboardInterrupt in the midst of the initialization of jaxlib's extensions becomes an ImportError there, or ends
    the process by a fault.
    """
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    came = []
    before = signal.signal(signal.SIGINT, lambda *arguments: came.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])


def become(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command in the place of this process, or, where that is not possible, wait for its end.

    Returns:
        The exit code, if this returns.
    """
    if _is_windows():  # it has such a call, but the shell would not wait for the new process
        return subprocess.call(command, env=environment)
    os.execve(command[0], command, environment)  # signals then reach it without anybody between


def new_processes() -> Any:
    """`multiprocessing` with processes that begin anew, on all systems: forked ones hang in locks and threads."""
    return multiprocessing.get_context("spawn")


def new_shared_memory(size: int) -> Any:
    """Memory that another process can share, by its `name`; it may be a little larger.

    Raises:
        OSError: there is not so much.
    """
    block = shared_memory.SharedMemory(create=True, size=size)
    file = getattr(block, "_fd", -1)
    if hasattr(os, "posix_fallocate") and file >= 0:
        # Linux only promises it until it is written, and then ends the process: containers often have 64 MB.
        try:
            os.posix_fallocate(file, 0, block.size)
        except OSError:
            block.close()
            block.unlink()
            raise
    return block


def attached_shared_memory(name: str) -> Any:
    """Memory that another process has made."""
    return shared_memory.SharedMemory(name)


def memory_folder() -> str:
    """A folder whose files are in memory, if there is one; otherwise that of temporary files."""
    path = "/dev/shm"
    if sys.platform.startswith("linux") and os.path.isdir(path) and os.access(path, os.W_OK):
        return path
    return tempfile.gettempdir()


def mapped_file(path: str) -> Any:
    """The bytes of a file as memory that processes share and none can change.

    Raises:
        OSError: there is no such file.
    """
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def is_mapped_file(array: Any) -> bool:
    """Whether the memory of an array is that of `mapped_file`."""
    base = array.base
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base is not None


def shares_ports() -> bool:
    """Whether several processes can listen at one port, each getting a part of the connections."""
    return sys.platform.startswith("linux")  # macOS gives all of them to one, Windows to any


# Files.


def reserve(file: int, size: int) -> None:
    """Get the memory or the disk for an open file, where the system can do that before it is written.

    Raises:
        OSError: there is not so much.
    """
    if size and hasattr(os, "posix_fallocate"):  # without it, a file in memory ends the process that fills it
        os.posix_fallocate(file, 0, size)


def reading_flags(follow_links: bool = True) -> int:
    """For `os.open`: to read the bytes of a file, which child processes do not get.

    Args:
        follow_links: whether the name may be a link, or a pipe that somebody may or may not write to. Where the system
            cannot be told so, it may.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    return flags if follow_links else flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def creating_flags() -> int:
    """For `os.open`: to write bytes to a file that is not there yet, which child processes do not get."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


_MOST_AT_ONCE = 1 << 30  # macOS refuses 2 GB, Linux reads less


def reads_at_places() -> bool:
    """Whether there are `bytes_at` and `read_into` here: reading from a place without moving in the file."""
    return hasattr(os, "preadv")


def bytes_at(file: int, size: int, offset: int) -> bytes:
    """The bytes at a place of a file; fewer only at its end."""
    data = os.pread(file, min(size, _MOST_AT_ONCE), offset)
    while 0 < len(data) < size:
        more = os.pread(file, min(size - len(data), _MOST_AT_ONCE), offset + len(data))
        if not more:
            break
        data += more
    return data


def read_into(file: int, target: Any, offset: int) -> int:
    """Read from a place of a file into an array of bytes.

    Returns:
        How many bytes were read: at least one, unless the file ends there.
    """
    return os.preadv(file, [target[:_MOST_AT_ONCE]], offset)


_REPLACING_PATIENCE, _REPLACING_PAUSE = 2.0, 0.01  # seconds


def replace(source: str, target: str) -> None:
    """Give a file or folder another name. A file of that name is replaced, in one step."""
    if not _is_windows():
        os.replace(source, target)
        return
    # There a file that somebody has open cannot be replaced, and who looks for viruses opens each new one for a moment.
    end = time.monotonic() + _REPLACING_PATIENCE
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if time.monotonic() > end or os.path.isdir(target):
                raise
        time.sleep(_REPLACING_PAUSE)


def rename_to_new(source: str, target: str) -> bool:
    """Give a file a name that nothing has, in one step; whether nothing had it. Otherwise all stays as it is."""
    try:
        if _is_windows():
            os.rename(source, target)
            return True
        os.link(source, target)
    except FileExistsError:
        return False
    os.unlink(source)
    return True


def link(source: str, target: str) -> None:
    """Give a file a second name; where the file system has no such links, it is copied."""
    try:
        os.link(source, target, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(source, target, follow_symlinks=False)


_EXCHANGE = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_HERE = -100  # AT_FDCWD: paths are relative to the current folder
# The kernel, the file system or the C library does not know how.
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def exchange(a: str, b: str) -> None:
    """Gives each of two files or folders of one file system the name of the other.

    Where that cannot be done in one step, nothing has the name `b` for a moment.
    """
    function = None if _is_windows() else _exchange_function()
    if function is not None:
        if function(os.fsencode(a), os.fsencode(b)) == 0:
            return
        number = ctypes.get_errno()
        if number not in _UNKNOWN:
            raise OSError(number, os.strerror(number), a, None, b)
    _exchange_by_renames(a, b)


def _exchange_function():
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        rename = library.renameat2
        rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        return lambda a, b: rename(_HERE, a, _HERE, b, _EXCHANGE)
    if hasattr(library, "renamex_np"):  # macOS
        swap = library.renamex_np
        swap.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
        return lambda a, b: swap(a, b, _EXCHANGE)
    return None


def _exchange_by_renames(a, b):
    aside = f"{a}.aside"
    os.rename(b, aside)
    try:
        os.rename(a, b)
    except OSError:
        os.rename(aside, b)
        raise
    os.rename(aside, a)


def sync_file(file: int) -> None:
    """Return when what was written to an open file would survive a power cut."""
    full = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone leaves data in the cache of the drive
    if full is not None:
        try:
            fcntl.fcntl(file, full)
            return
        except OSError as error:
            if error.errno not in {*_UNKNOWN, errno.ENOTTY}:  # a file system of another machine cannot do that
                raise
    os.fsync(file)


def sync_folder(path: str) -> None:
    """Return when the names in a folder would survive a power cut."""
    if _is_windows():  # it cannot, and need not
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


_HAS_NO_LOCKS = {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}


def when_asked_to_end(loop: Any, function: Callable[[], object]) -> None:
    """Have a loop of the main thread call a function when Ctrl-C or a request to end comes, instead of ending."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if _is_windows():
            signal.signal(number, lambda *unused: loop.call_soon_threadsafe(function))
        else:
            loop.add_signal_handler(number, function)


def lockable_folder(path: str) -> int | None:
    """A folder, open, to be locked; None where folders cannot be."""
    return None if fcntl is None else os.open(path, reading_flags())


def lock_folder(folder: int) -> bool | None:
    """Try to lock an open folder: whether that was possible, or None where its file system has no locks.

    Closing it gives the lock back; so does the end of the process.
    """
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HAS_NO_LOCKS:
            return None
        if error.errno != errno.EWOULDBLOCK:
            raise
        return False
    return True


def unlock_folder(folder: int) -> None:
    """Give the lock back, and close the folder."""
    fcntl.flock(folder, fcntl.LOCK_UN)
    os.close(folder)


def may_be_vanishing(error: OSError) -> bool:
    """Whether a file could not be opened because one of its name is just being removed, and may be gone soon."""
    return _is_windows() and isinstance(error, PermissionError)


def user() -> int | None:
    """The number of the user who owns what this process makes; None where files have no owners and modes."""
    return os.getuid() if hasattr(os, "getuid") else None


def open_library(path: str) -> None:
    """Let the system load a library that Python will import, without holding up other threads as an import does.

    Where that is not possible, nothing happens: the import does it.
    """
    if _is_windows():
        return
    try:
        opened = ctypes.CDLL(None).dlopen  # a call of a function, unlike `CDLL`, lets other threads run
    except (OSError, AttributeError):
        return
    opened.restype, opened.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    opened(os.fsencode(path), os.RTLD_LAZY | os.RTLD_LOCAL)


# Paths.


def user_cache_folder(name: str) -> str | None:
    """Where this user's programs keep what can be made again; None where files have no owners, or there is no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "headrace", name) if user() is not None and os.path.isabs(base) else None


def is_within(path: str, folder: str) -> bool:
    """Whether a local path leads to a folder or into it, after links."""
    place, root = (os.path.normcase(os.path.realpath(each)) for each in (path, folder))
    return place == root or place.startswith(root.rstrip(os.sep) + os.sep)


def stays_below(name: str) -> bool:
    """Whether a relative path from a file, with slashes, cannot lead out of the folder that it is relative to."""
    for separator in (os.sep, os.altsep):
        if separator:
            name = name.replace(separator, "/")
    return not (os.path.splitdrive(name)[0] or name.startswith("/") or ".." in name.split("/"))


def interrupt_thread(number: int) -> None:
    """Raise KeyboardInterrupt in a thread of this process, at its next line of Python code.

    Args:
        number: the thread's `ident`.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(number), ctypes.py_object(KeyboardInterrupt))
