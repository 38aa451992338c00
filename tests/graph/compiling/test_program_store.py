"""Programs that are kept on disk: only what this user wrote is read; whatever is wrong is as if it was not there."""

import os
import pathlib
import pickle
import stat

import pytest

import headrace as tf
from headrace._src.cli.cache import cache
from headrace._src.graph.compiling import compilation, program_store
from headrace._src.graph.compiling import queue as compile_queue
from headrace._src.graph.compiling.programs import Built


class Bomb:
    """What is unpickled runs this."""

    def __reduce__(self):
        return (os.mkdir, (str(pathlib.Path(os.environ["HEADRACE_COMPILE_CACHE"]) / "unpickled"),))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "programs"
    monkeypatch.setenv("HEADRACE_COMPILE_CACHE", str(folder))
    return folder


def some(payload=b"code"):
    return Built(payload, [0], [], [], [("computed", 0)], [], False)


def kept(folder):
    """An entry, its name, and its file."""
    name = program_store.name_of(b"request")
    program_store.write(name, some())
    return name, folder / name


def test_a_program_comes_back(folder):
    name, _ = kept(folder)
    assert program_store.read(name).payload == b"code"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()] == [0o600, 0o600]
    assert program_store.name_of(b"other") != name
    program_store.discard(name)
    assert program_store.read(name) is None


def replaced_by_link(folder, name, path):
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")


def replaced_by_folder(folder, name, path):
    path.unlink()
    path.mkdir()


def replaced_by_pipe(folder, name, path):
    path.unlink()
    os.mkfifo(path, 0o600)


def unsigned(folder, name, path):
    path.write_bytes(program_store._LETTERS + bytes(32) + pickle.dumps(Bomb()))


def write_signed(path, name, content, key):
    path.write_bytes(program_store._LETTERS + program_store._signature(content, name, key) + content)


def signed_with_another_key(folder, name, path):
    write_signed(path, name, pickle.dumps(Bomb()), b"k" * 32)


def of_another_name(folder, name, path):
    other = program_store.name_of(b"other")
    program_store.write(other, some(b"other code"))
    (folder / other).replace(path)


def signed_but_no_program(folder, name, path):
    write_signed(path, name, pickle.dumps({"no": "program"}), program_store._key(folder))


def signed_but_of_a_class_that_is_gone(folder, name, path):
    write_signed(path, name, b"cheadrace._src.graph.compiling.programs\nGone\n.", program_store._key(folder))


WRONG = {
    "empty": lambda folder, name, path: path.write_bytes(b""),
    "short": lambda folder, name, path: path.write_bytes(path.read_bytes()[:-1]),
    "changed": lambda folder, name, path: path.write_bytes(path.read_bytes()[:-1] + b"!"),
    "longer": lambda folder, name, path: path.write_bytes(path.read_bytes() + b"!"),
    "another format": lambda folder, name, path: path.write_bytes(pickle.dumps(Bomb())),
    "unsigned": unsigned,
    "another key": signed_with_another_key,
    "another name": of_another_name,
    "no program": signed_but_no_program,
    "a class that is gone": signed_but_of_a_class_that_is_gone,
    "a link": replaced_by_link,
    "a folder": replaced_by_folder,
    "a pipe": replaced_by_pipe,
    "others can write it": lambda folder, name, path: path.chmod(0o622),
    "others can write the folder": lambda folder, name, path: folder.chmod(0o777),
    "others know the key": lambda folder, name, path: (folder / "key").chmod(0o644),
    "the key is gone": lambda folder, name, path: (folder / "key").unlink(),
    "the key is short": lambda folder, name, path: (folder / "key").write_bytes(b"k"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no owners and modes")
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_not_there(folder, what):
    name, path = kept(folder)
    WRONG[what](folder, name, path)
    assert program_store.read(name) is None
    assert not (folder / "unpickled").exists()
    if path.is_dir():
        path.rmdir()
    folder.chmod(0o700)
    (folder / "key").exists() and (folder / "key").chmod(0o600)
    program_store.write(name, some(b"anew"))
    assert program_store.read(name).payload == b"anew"
    assert not path.is_symlink()
    if what == "a link":
        assert b"anew" not in (folder / "elsewhere").read_bytes()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners")
def test_what_belongs_to_others_is_not_there(folder, monkeypatch):
    name, _ = kept(folder)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert program_store.read(name) is None
    program_store.write(name, some(b"mine"))  # no error either
    assert program_store.contents().foreign == 1
    monkeypatch.undo()


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("HEADRACE_COMPILE_CACHE", str(tmp_path / "file" / "programs"))
    name = program_store.name_of(b"request")
    program_store.write(name, some())
    assert program_store.read(name) is None


def test_it_does_not_grow_without_end(folder, monkeypatch):
    monkeypatch.setenv("HEADRACE_COMPILE_CACHE_MB", "0.01")
    names = [program_store.name_of(b"%d" % number) for number in range(6)]
    for number, name in enumerate(names):
        program_store.write(name, some(bytes(3000)))
        os.utime(folder / name, (number, number))
        if number == 2:
            program_store.read(names[0])  # which makes it the last one used
    there = [number for number, name in enumerate(names) if (folder / name).exists()]
    assert there == [0, 4, 5]
    program_store.write(name, some(bytes(20_000)))  # never more than all of it
    assert program_store.contents().size < 10_000


def test_the_command(folder, capsys, monkeypatch):
    kept(folder)
    assert cache("show") == 0
    assert f"{folder}: 1 programs" in capsys.readouterr().out
    assert cache("clear") == 0
    assert "removed 1 of 1" in capsys.readouterr().out
    assert program_store.contents().programs == 0
    monkeypatch.delenv("HEADRACE_COMPILE_CACHE")
    assert cache("show") == 0
    assert "HEADRACE_COMPILE_CACHE" in capsys.readouterr().out


# What cannot be loaded, and what ends the compiling process.


def chain(x):
    for _ in range(30):
        x = tf.tanh(x) + 0.1
    return x


@pytest.mark.slow
def test_a_program_that_cannot_be_loaded_is_compiled_anew(folder):
    x = tf.constant([0.5])
    want = tf.function(chain, jit_compile=True)(x)
    (path,) = folder.glob("*.program")
    program_store.write(path.name, some(pickle.dumps((b"", None, None))))
    got = tf.function(chain, jit_compile=True)(x)
    assert got.numpy() == want.numpy()
    assert len(program_store.read(path.name).payload) > 100


class Dying(compile_queue.CompileQueue):
    """Its processes die of whatever they are asked for."""

    started = 0

    def _start(self):
        self.started += 1
        there = super()._start()
        self._worker.process.kill()
        self._worker.process.wait()
        return there


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, 3])
def test_what_ends_the_process_twice_stays_interpreted(monkeypatch, seed):
    queue = Dying()
    monkeypatch.setattr(compile_queue, "queue", queue)
    monkeypatch.setattr(compile_queue, "_deadly", set())
    monkeypatch.setattr(compile_queue, "build", lambda *_: pytest.fail("compiled in the caller"))
    monkeypatch.setattr(compile_queue, "answer", lambda *_: pytest.fail("compiled in the caller"))
    tf.random.set_seed(seed)
    f = tf.function(chain)
    x = tf.constant([0.5])
    want = f(x).numpy()
    f(x)
    (entry,) = f.get_concrete_function(x).graph.executable()._entries.values()
    assert entry._job.wait(120)
    for _ in range(compilation._SEEDED + 1):
        assert f(x).numpy() == want
    assert entry.program is None
    assert queue.started == 2
    assert "the compiling process died 2 times" in str(f.explain(x))
    queue.close()


@pytest.mark.slow
def test_what_has_ended_a_process_is_not_tried_in_the_caller(monkeypatch):
    """With a seed, a call compiles by itself when it has waited too long; not after the process has died once."""

    class DiedOnce:
        def submit(self, job):
            job.deaths = 1

    monkeypatch.setattr(compile_queue, "queue", DiedOnce())
    monkeypatch.setattr(compilation, "_PATIENCE", 0.0)
    monkeypatch.setattr(compilation, "_PATIENCE_PER_OPERATION", 0.0)
    monkeypatch.setattr(compile_queue, "build", lambda *_: pytest.fail("compiled in the caller"))
    tf.random.set_seed(3)
    f = tf.function(chain)
    x = tf.constant([0.5])
    results = {float(f(x)[0]) for _ in range(compilation._SEEDED + 2)}
    assert len(results) == 1
    (entry,) = f.get_concrete_function(x).graph.executable()._entries.values()
    assert entry.program is None
