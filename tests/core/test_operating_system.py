"""What differs between operating systems stands in one file, and does on the others what their documents say.

macOS and Windows are simulated: the modules that core/operating_system.py asks are replaced by stand-ins with what
those systems have, and without what they do not have.
"""

import ast
import errno
import io
import ntpath
import os
import pathlib
import re
import subprocess
import tempfile
import types

import numpy as np
import pytest

import headrace
from headrace._src.core import operating_system as system
from headrace._src.core import private_files


class StandIn:
    """A module with some names replaced, and some missing."""

    def __init__(self, module, missing=(), **replaced):
        self.__dict__.update(replaced)
        self._module, self._missing = module, missing

    def __getattr__(self, name):
        if name in self._missing:
            raise AttributeError(name)
        return getattr(self._module, name)


# What `os` does not have there.
NOT_ON_WINDOWS = (
    "register_at_fork", "sched_getaffinity", "nice", "getuid", "preadv", "posix_fallocate", "O_NOFOLLOW", "O_NONBLOCK",
    "O_CLOEXEC", "fork",
)  # fmt: skip
NOT_ON_MACOS = ("sched_getaffinity", "posix_fallocate")


@pytest.fixture
def windows(monkeypatch):
    """A function that makes this Windows, with some names of `os` replaced."""

    def become(**replaced):
        names = {"name": "nt", "path": ntpath, "sep": "\\", "altsep": "/", "O_BINARY": 0x8000, **replaced}
        monkeypatch.setattr(system, "os", StandIn(os, NOT_ON_WINDOWS, **names))
        monkeypatch.setattr(system, "sys", types.SimpleNamespace(platform="win32"))
        monkeypatch.setattr(system, "fcntl", None)
        flags = {"CREATE_NEW_PROCESS_GROUP": 0x200, "IDLE_PRIORITY_CLASS": 0x40}
        monkeypatch.setattr(system, "subprocess", StandIn(subprocess, **flags))

    return become


@pytest.fixture
def macos(monkeypatch):
    """A function that makes this macOS, with its C library and `fcntl`."""

    def become(library, fcntl):
        monkeypatch.setattr(system, "os", StandIn(os, NOT_ON_MACOS))
        monkeypatch.setattr(system, "sys", types.SimpleNamespace(platform="darwin"))
        monkeypatch.setattr(system, "fcntl", fcntl)
        monkeypatch.setattr(system, "ctypes", StandIn(system.ctypes, CDLL=lambda *_, **__: library))

    return become


def of_apple(**functions):
    """A library with these functions, which ctypes gives argument types to."""
    return types.SimpleNamespace(**functions)


# Processors and memory.


def test_processors_that_this_process_may_use(monkeypatch, windows, macos):
    assert 1 <= system.processor_count() <= os.cpu_count()
    monkeypatch.setattr(system, "os", StandIn(os, sched_getaffinity=lambda process: {3, 5}))
    assert system.processor_count() == 2
    windows(cpu_count=lambda: 6)
    assert system.processor_count() == 6
    windows(cpu_count=lambda: None)
    assert system.processor_count() == 1
    macos(of_apple(), None)
    assert system.processor_count() == os.cpu_count()


def test_machine_code_is_for_a_kind_of_processor(monkeypatch, windows, macos):
    here = system.processor_kind()
    assert here.strip()
    monkeypatch.setattr(system, "platform", StandIn(None, machine=lambda: "AMD64"))

    def brand(name, buffer, size, new, length):
        assert name == b"machdep.cpu.brand_string"
        buffer.value = b"Apple M9"

    macos(of_apple(sysctlbyname=brand), None)
    assert "Apple M9" in system.processor_kind() != here
    windows()
    assert system.processor_kind() == ""  # which instructions it has is not said


@pytest.mark.parametrize("said", [None, "", "model name : some\n"])
def test_a_processor_whose_instructions_are_unknown(monkeypatch, said):
    def opened(path):
        if said is None:
            raise FileNotFoundError(path)
        return io.StringIO(said)

    monkeypatch.setattr(system, "open", opened, raising=False)
    monkeypatch.setattr(system, "sys", types.SimpleNamespace(platform="linux"))
    assert system.processor_kind() == ""


def test_a_library_is_opened_without_python(monkeypatch, windows):
    opened = []

    def dlopen(path, mode):
        opened.append(path)

    library = types.SimpleNamespace(dlopen=dlopen)
    monkeypatch.setattr(system, "ctypes", StandIn(system.ctypes, CDLL=lambda name: library))
    system.open_library("/some/library.so")
    assert opened == [b"/some/library.so"]
    library = types.SimpleNamespace()
    system.open_library("/some/library.so")  # the import will do it
    windows()
    library = types.SimpleNamespace(dlopen=dlopen)
    system.open_library("/some/library.so")
    assert len(opened) == 1


def test_a_library_that_is_not_there_is_left_to_the_import(tmp_path):
    system.open_library(str(tmp_path / "none.so"))


def test_freed_memory_is_kept_where_the_c_library_can(monkeypatch, windows, macos):
    calls = []
    library = of_apple(mallopt=lambda *arguments: calls.append(arguments) or 1)
    monkeypatch.setattr(system, "ctypes", StandIn(system.ctypes, CDLL=lambda name: library))
    assert system.keep_freed_memory()
    assert len(calls) == 2
    monkeypatch.setenv("HEADRACE_KEEP_MEMORY", "0")
    assert not system.keep_freed_memory()
    monkeypatch.delenv("HEADRACE_KEEP_MEMORY")
    library = of_apple()  # musl has no mallopt
    assert not system.keep_freed_memory()
    macos(of_apple(mallopt=None), None)
    assert not system.keep_freed_memory()
    windows()
    assert not system.keep_freed_memory()


def test_memory_of_every_size_is_kept_while_something_wants_it(monkeypatch):
    calls = []
    library = of_apple(mallopt=lambda *arguments: calls.append(arguments) or 1)
    monkeypatch.setattr(system, "ctypes", StandIn(system.ctypes, CDLL=lambda name: library))
    monkeypatch.setattr(system.sys, "platform", "linux")
    kept = system.KeptMemory()
    with kept, kept:
        assert calls == [(-4, 0)]
    assert calls == [(-4, 0), (-4, 65536)]
    monkeypatch.setenv("HEADRACE_KEEP_MEMORY", "0")
    with system.KeptMemory():
        assert len(calls) == 2


def test_free_memory_is_kept_for_what_needs_much_of_it_again_and_again(monkeypatch):
    calls = []
    library = of_apple(mallopt=lambda *arguments: calls.append(arguments) or 1)
    monkeypatch.setattr(system, "ctypes", StandIn(system.ctypes, CDLL=lambda name: library))
    monkeypatch.setattr(system.sys, "platform", "linux")
    pages = {"SC_PAGE_SIZE": 1 << 12, "SC_PHYS_PAGES": 1 << 20}
    monkeypatch.setattr(system, "os", StandIn(os, sysconf=pages.__getitem__))
    monkeypatch.setattr(system._Free, "kept", system.FREE_AT_MOST)
    system.keep_free(system.FREE_AT_MOST)
    assert calls == []
    system.keep_free(300 << 20)
    system.keep_free(280 << 20)  # less than is kept already
    assert calls == [(-1, 556 << 20)]
    system.keep_free(4 << 30)  # a quarter of the 4 GB that there are
    assert calls[1:] == [(-1, 1 << 30)]
    pages["SC_PHYS_PAGES"] <<= 10
    system.keep_free(4 << 30)
    assert calls[2:] == [(-1, 2**31 - 1)]


# Processes.


def test_functions_around_forks(monkeypatch, windows):
    registered = []
    stand_in = StandIn(os, register_at_fork=lambda **functions: registered.append(functions))
    monkeypatch.setattr(system, "os", stand_in)
    system.at_fork(in_child=len)
    system.at_fork(before=len, in_parent=repr, in_child=str)
    assert registered == [
        {"after_in_child": len},
        {"before": len, "after_in_parent": repr, "after_in_child": str},
    ]
    windows()
    system.at_fork(in_child=len)
    assert len(registered) == 2


def raising(error):
    def function(*_, **__):
        raise error

    return function


def test_whether_a_process_is_alive(monkeypatch):
    assert system.is_running(os.getpid())
    assert not system.is_running(0)  # for kill: the own group
    assert not system.is_running(-1)  # for kill: everyone
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not system.is_running(ended.pid)
    monkeypatch.setattr(system, "os", StandIn(os, kill=raising(PermissionError())))
    assert system.is_running(5)  # it is another user's


@pytest.mark.parametrize(
    ("opened", "error", "code", "expected"),
    [(7, 0, 259, True), (7, 0, 1, False), (0, 87, None, False), (0, 5, None, True)],
    ids=["alive", "ended but not forgotten", "unknown", "of another user"],
)
def test_whether_a_process_is_alive_on_windows(monkeypatch, windows, opened, error, code, expected):
    windows(kill=raising(AssertionError("os.kill ends processes there")))
    closed = []

    def exit_code(handle, address):
        address._obj.value = code
        return 1

    kernel = types.SimpleNamespace(
        OpenProcess=lambda access, inherit, process: opened,
        GetExitCodeProcess=exit_code,
        CloseHandle=lambda handle: closed.append(handle),
    )
    libraries = {"WinDLL": lambda name, use_last_error: kernel, "get_last_error": lambda: error}
    monkeypatch.setattr(system, "ctypes", StandIn(system.ctypes, **libraries))
    # Functions of a library take attributes; lambdas do too.
    assert system.is_running(1234) == expected
    assert closed == ([opened] if opened else [])


def test_processes_in_the_background(windows):
    assert system.in_the_background(19) == {"start_new_session": True}
    windows()
    assert system.in_the_background(19) == {"creationflags": 0x240}
    assert system.in_the_background(0) == {"creationflags": 0x200}
    system.lower_priority(19)  # which its creation has done


def test_a_command_in_the_place_of_this_process(monkeypatch, windows):
    replaced, called = [], []
    monkeypatch.setattr(system, "os", StandIn(os, execve=lambda *arguments: replaced.append(arguments)))
    system.become(["python", "-V"], {"A": "1"})
    assert replaced == [("python", ["python", "-V"], {"A": "1"})]
    windows(execve=raising(AssertionError("the shell would not wait")))
    stand_in = StandIn(None, call=lambda command, env: called.append((command, env)) or 3)
    monkeypatch.setattr(system, "subprocess", stand_in)
    assert system.become(["python", "-V"], {"A": "1"}) == 3
    assert called == [(["python", "-V"], {"A": "1"})]


def test_shared_memory_that_is_really_there(monkeypatch, windows):
    block = system.new_shared_memory(100)
    block.buf[:3] = b"abc"
    other = system.attached_shared_memory(block.name)
    assert bytes(other.buf[:3]) == b"abc"
    other.close()
    block.close()
    block.unlink()
    if hasattr(os, "posix_fallocate"):
        full = OSError(errno.ENOSPC, "No space left on device")
        made = []
        monkeypatch.setattr(system, "os", StandIn(os, posix_fallocate=raising(full)))
        memory = system.shared_memory.SharedMemory
        monkeypatch.setattr(
            system, "shared_memory", StandIn(None, SharedMemory=lambda **how: made.append(memory(**how)) or made[-1])
        )
        with pytest.raises(OSError, match="No space left"):
            system.new_shared_memory(100)
        with pytest.raises(FileNotFoundError):
            memory(made[0].name)  # nothing stays behind
    windows()
    block = system.new_shared_memory(100)
    block.close()
    block.unlink()


# Files.


def test_flags_are_those_that_there_are(windows):
    assert system.reading_flags() & os.O_CLOEXEC
    assert system.reading_flags(follow_links=False) & os.O_NOFOLLOW
    assert system.creating_flags() & os.O_EXCL
    windows()
    assert system.reading_flags(follow_links=False) == os.O_RDONLY | 0x8000
    assert system.creating_flags() == os.O_WRONLY | os.O_CREAT | os.O_EXCL | 0x8000
    assert not system.reads_at_places()


def test_parts_of_a_file_however_few_bytes_a_call_reads(monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"0123456789")
    monkeypatch.setattr(system, "_MOST_AT_ONCE", 3)
    file = os.open(tmp_path / "file", system.reading_flags())
    try:
        assert system.bytes_at(file, 5, 2) == b"23456"
        assert system.bytes_at(file, 50, 2) == b"23456789"
        assert system.bytes_at(file, 5, 10) == b""
        target = bytearray(5)
        assert system.read_into(file, memoryview(target), 4) == 3
        assert target[:3] == b"456"
    finally:
        os.close(file)


def test_a_file_that_somebody_looks_at_is_replaced_a_moment_later(monkeypatch, windows, tmp_path):
    clock = types.SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    clock.sleep = lambda seconds: setattr(clock, "now", clock.now + seconds)
    monkeypatch.setattr(system, "time", clock)
    answers = [PermissionError(13, "in use"), PermissionError(13, "in use"), None]
    done = []

    def replace(source, target):
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        done.append((source, target))

    windows(replace=replace)
    system.replace("a", "b")
    assert done == [("a", "b")]
    windows(replace=raising(PermissionError(13, "in use")))
    with pytest.raises(PermissionError):
        system.replace("a", "b")
    assert clock.now > 1.0
    before = clock.now
    with pytest.raises(PermissionError):
        system.replace("a", str(tmp_path))  # a folder is never replaced
    assert clock.now == before
    windows(replace=raising(FileNotFoundError(2, "no")))
    with pytest.raises(FileNotFoundError):
        system.replace("a", "b")
    assert clock.now == before


def test_a_name_that_nothing_has(tmp_path, windows):
    def rename(source, target):
        if os.path.exists(target):
            raise FileExistsError(17, "exists")
        os.rename(source, target)

    for _ in range(2):
        paths = [str(tmp_path / name) for name in ("a", "b", "c")]
        for path in paths[:2]:
            pathlib.Path(path).write_text(path)
        assert not system.rename_to_new(paths[0], paths[1])
        assert pathlib.Path(paths[1]).read_text() == paths[1]
        assert system.rename_to_new(paths[0], paths[2])
        assert pathlib.Path(paths[2]).read_text() == paths[0]
        assert sorted(os.listdir(tmp_path)) == ["b", "c"]
        os.unlink(paths[2])
        windows(rename=rename)


def two_folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    return str(tmp_path / "a"), str(tmp_path / "b")


def contents(tmp_path):
    return {name: os.listdir(tmp_path / name) for name in os.listdir(tmp_path)}


def test_folders_exchange_their_names(tmp_path):
    system.exchange(*two_folders(tmp_path))
    assert contents(tmp_path) == {"a": ["b"], "b": ["a"]}
    with pytest.raises(FileNotFoundError):
        system.exchange(str(tmp_path / "a"), str(tmp_path / "c"))


def test_folders_exchange_their_names_on_windows(tmp_path, windows):
    windows()
    system.exchange(*two_folders(tmp_path))
    assert contents(tmp_path) == {"a": ["b"], "b": ["a"]}

    def rename(source, target):
        if source.endswith("a"):
            raise PermissionError(13, "a file in it is open", source)
        os.rename(source, target)

    windows(rename=rename)
    with pytest.raises(PermissionError):
        system.exchange(str(tmp_path / "a"), str(tmp_path / "b"))
    assert contents(tmp_path) == {"a": ["b"], "b": ["a"]}  # all is as it was


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.EACCES])
def test_folders_exchange_their_names_on_macos(tmp_path, macos, monkeypatch, number):
    answers, asked = [0], []

    def swap(a, b, flags):
        asked.append((a, b, flags))
        return answers[0]

    macos(of_apple(renamex_np=swap), None)
    a, b = two_folders(tmp_path)
    system.exchange(a, b)
    assert asked == [(os.fsencode(a), os.fsencode(b), 2)]
    answers[0] = -1
    monkeypatch.setattr(system.ctypes, "get_errno", lambda: number, raising=False)
    if number == errno.EACCES:
        with pytest.raises(PermissionError):
            system.exchange(a, b)
    else:  # a file system that cannot
        system.exchange(a, b)
        assert contents(tmp_path) == {"a": ["b"], "b": ["a"]}


def test_what_was_written_is_on_the_drive(tmp_path, macos, windows, monkeypatch):
    with open(tmp_path / "file", "wb") as file:
        flushed = []
        error = None

        def control(number, command):
            if error is not None:
                raise error
            flushed.append(command)

        macos(of_apple(), types.SimpleNamespace(F_FULLFSYNC=51, fcntl=control))
        system.sync_file(file.fileno())
        assert flushed == [51]
        error = OSError(errno.ENOTSUP, "a network file system")
        system.sync_file(file.fileno())
        error = OSError(errno.EIO, "the drive is broken")
        with pytest.raises(OSError, match="broken"):
            system.sync_file(file.fileno())
        synced = []
        windows(fsync=synced.append, open=raising(PermissionError("folders cannot be opened there")))
        system.sync_file(file.fileno())
        assert synced == [file.fileno()]
    system.sync_folder(str(tmp_path))
    monkeypatch.undo()
    system.sync_folder(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        system.sync_folder(str(tmp_path / "none"))


def test_locks_of_folders(tmp_path, windows):
    first, second = system.lockable_folder(str(tmp_path)), system.lockable_folder(str(tmp_path))
    assert system.lock_folder(first) is True
    assert system.lock_folder(second) is False
    system.unlock_folder(first)
    assert system.lock_folder(second) is True
    system.unlock_folder(second)
    assert not system.may_be_vanishing(PermissionError())
    windows()
    assert system.lockable_folder(str(tmp_path)) is None
    assert system.may_be_vanishing(PermissionError())
    assert not system.may_be_vanishing(FileExistsError())


@pytest.mark.parametrize(("number", "expected"), [(errno.ENOLCK, None), (errno.EWOULDBLOCK, False)])
def test_file_systems_without_locks(monkeypatch, number, expected):
    fcntl = StandIn(system.fcntl, flock=raising(OSError(number, "no")))
    monkeypatch.setattr(system, "fcntl", fcntl)
    assert system.lock_folder(0) is expected
    monkeypatch.setattr(system, "fcntl", StandIn(system.fcntl, flock=raising(OSError(errno.EIO, "broken"))))
    with pytest.raises(OSError, match="broken"):
        system.lock_folder(0)


def test_copies_where_there_are_no_links(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"1")
    system.link(str(tmp_path / "a"), str(tmp_path / "b"))
    assert os.stat(tmp_path / "b").st_nlink == 2
    monkeypatch.setattr(system, "os", StandIn(os, link=raising(NotImplementedError())))
    system.link(str(tmp_path / "a"), str(tmp_path / "c"))
    assert (tmp_path / "c").read_bytes() == b"1"
    assert os.stat(tmp_path / "c").st_nlink == 1


def test_files_without_owners(windows, tmp_path, monkeypatch):
    assert system.user() == os.getuid()
    windows(path=os.path)
    assert system.user() is None
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = private_files.runtime_folder()
    assert os.path.basename(folder) == "headrace"
    private_files.write(os.path.join(folder, "x"), b"secret")
    os.chmod(os.path.join(folder, "x"), 0o666)  # which says nothing there
    assert private_files.read(os.path.join(folder, "x"), secret=True) == b"secret"


# Paths.


def test_whether_a_path_is_in_a_folder(tmp_path, windows):
    (tmp_path / "model").mkdir()
    (tmp_path / "out").symlink_to("/")
    for path, expected in [("model", True), ("model/x", True), ("model2", False), ("out/etc", False)]:
        assert system.is_within(str(tmp_path / path), str(tmp_path / "model")) == expected
    assert system.is_within("/etc", "/")
    windows()
    for path, expected in [
        (r"C:\models\one\assets\x", True), ("c:/Models/ONE/x", True), (r"C:\models\one", True),
        (r"C:\models\one2", False), (r"D:\models\one\x", False), (r"C:\models\one\..\x", False),
    ]:  # fmt: skip
        assert system.is_within(path, r"C:\models\one") == expected, path


@pytest.mark.parametrize(
    ("name", "here", "on_windows"),
    [
        ("vocabulary.txt", True, True), ("a/b", True, True), ("a..b", True, True),
        ("/etc/passwd", False, False), ("../x", False, False), ("a/../../x", False, False),
        (r"..\x", True, False), (r"a\..\..\x", True, False), (r"\x", True, False), (r"C:\x", True, False),
        ("C:x", True, False), (r"\\server\share\x", True, False),
    ],
)  # fmt: skip
def test_whether_a_name_of_a_message_leads_out_of_a_folder(name, here, on_windows, windows):
    assert system.stays_below(name) == here
    windows()
    assert system.stays_below(name) == on_windows


# Nobody else asks.

MODULES = {"fcntl", "msvcrt", "winreg", "nt", "posix", "resource", "signal", "ctypes", "mmap", "pwd", "grp", "pty"}
OF_OS = {
    "name", "uname", "fork", "forkpty", "register_at_fork", "kill", "killpg", "nice", "setsid", "setpriority",
    "execv", "execve", "execvp", "execvpe", "spawnv", "cpu_count", "sched_getaffinity", "process_cpu_count",
    "replace", "rename", "renames", "link", "symlink", "fsync", "fdatasync", "sync", "preadv", "pread", "pwritev",
    "pwrite", "getuid", "geteuid", "getgid", "fchmod", "chown", "statvfs", "memfd_create", "posix_fallocate",
}  # fmt: skip
OF_OTHERS = {
    "sys": {"platform", "getwindowsversion"},
    "platform": {"system", "uname", "processor", "release", "version"},
    "multiprocessing": {"get_context", "Process", "Pool", "set_start_method", "cpu_count"},
    "shared_memory": {"SharedMemory"},
    "socket": {"AF_UNIX", "socketpair"},
}
FLAGS = {"O_RDONLY", "O_RDWR", "O_WRONLY", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND"}  # all systems have these
FOLDERS = ("/proc/", "/dev/", "/sys/")
KEYWORDS = ("start_new_session", "preexec_fn", "creationflags")
# Any of these words is in a file that asks something.
WORDS = re.compile(
    r"\b(?:" + "|".join([*MODULES, *OF_OS, *set().union(*OF_OTHERS.values()), *KEYWORDS, "O_[A-Z]+"]) + r")\b|"
    + "|".join(FOLDERS)
)  # fmt: skip

# Elsewhere for a reason.
EXCEPTIONS = {
    ("core/product_threads.py", "ctypes"): "calls OpenBLAS, the same way on all systems",
    ("core/cuda_driver.py", "ctypes"): "calls the driver of CUDA, which jax uses on Linux alone",
}


def questions(tree):
    """What a file asks of the system."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if node.module.split(".")[0] in MODULES:
                yield node.module
            elif node.module in {"os", *OF_OTHERS}:
                known = OF_OS if node.module == "os" else OF_OTHERS[node.module]
                yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name in known)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of, name = node.value.id, node.attr
            if of == "os" and (name in OF_OS or (name.startswith("O_") and name not in FLAGS)):
                yield f"os.{name}"
            elif name in OF_OTHERS.get(of, ()):
                yield f"{of}.{name}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            of, name = node.args[0], node.args[1] if len(node.args) > 1 else None
            if node.func.id == "LazyModule" and isinstance(of, ast.Constant) and of.value in MODULES:
                yield of.value
            if node.func.id in ("hasattr", "getattr") and isinstance(of, ast.Name) and isinstance(name, ast.Constant):
                if of.id in ("os", "sys", "socket"):
                    yield f"{of.id}.{name.value}"
        elif isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith(FOLDERS):
                yield node.value


def test_what_processes_of_a_server_share(tmp_path, monkeypatch, windows, macos):
    assert os.path.isdir(system.memory_folder())
    assert system.shares_ports()
    (tmp_path / "file").write_bytes(b"abc")
    memory = system.mapped_file(str(tmp_path / "file"))
    assert memory[:] == b"abc"
    with pytest.raises(TypeError):
        memory[0] = 1
    with open(tmp_path / "file", "r+b") as file:
        system.reserve(file.fileno(), 100)
        assert os.fstat(file.fileno()).st_size == 100
        for make in (lambda: macos(of_apple(), None), windows):
            make()
            system.reserve(file.fileno(), 1000)  # nothing can be reserved there
            assert os.fstat(file.fileno()).st_size == 100
            assert system.memory_folder() == tempfile.gettempdir()
            assert not system.shares_ports()
    array = np.frombuffer(memory, np.uint8)
    assert system.is_mapped_file(array[1:].reshape(-1))
    assert not system.is_mapped_file(array.copy())
    assert not system.is_mapped_file(np.ones(3)[1:])


def test_the_walk_finds_questions():
    text = (
        "import os, sys, fcntl\nfrom os import fork\nfrom signal import SIGINT\nos.replace(a, b)\nsys.platform\n"
        "hasattr(os, 'preadv')\nopen('/proc/self/maps')\nPopen(start_new_session=True)\nos.O_NOFOLLOW\nos.O_RDONLY\n"
        "LazyModule('resource')\nos.path.join(a)\ntext.replace(a, b)\n"
    )
    assert sorted(questions(ast.parse(text))) == [
        "/proc/self/maps", "fcntl", "os.O_NOFOLLOW", "os.fork", "os.preadv", "os.replace", "resource", "signal",
        "start_new_session", "sys.platform",
    ]  # fmt: skip


def test_no_other_file_asks_the_system():
    package = pathlib.Path(headrace.__file__).parent
    implementation = package / "_src"
    found = set()
    for path in sorted(package.rglob("*.py")):
        if path != pathlib.Path(system.__file__):
            name = str(path.relative_to(implementation if path.is_relative_to(implementation) else package))
            text = path.read_text()
            if WORDS.search(text):
                found |= {(name, question) for question in questions(ast.parse(text))}
    assert found == set(EXCEPTIONS)
