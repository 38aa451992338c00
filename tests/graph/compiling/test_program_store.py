"""Programs that are kept on disk: only what this user wrote is read; whatever is wrong is as if it was not there."""

import os
import pathlib
import pickle
import stat

import pytest

import headrace as tf
from headrace._src import index
from headrace._src.cli.cache import cache
from headrace._src.core import operating_system
from headrace._src.core.lazy import jax
from headrace._src.graph.compiling import compilation, program_store, programs
from headrace._src.graph.compiling import queue as compile_queue
from headrace._src.graph.compiling.blocks import BlockBuilder
from headrace._src.graph.compiling.programs import Built, compiled_with
from headrace._src.op.definition import REGISTRY


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
    assert f"{folder}: 1 program," in capsys.readouterr().out
    assert cache("clear") == 0
    assert "removed 1 of 1" in capsys.readouterr().out
    assert program_store.contents().programs == 0
    folder.chmod(0o777)
    assert cache("show") == 0
    assert "others can change" in capsys.readouterr().out
    monkeypatch.setenv("HEADRACE_COMPILE_CACHE", "0")
    assert cache("show") == 0
    assert "No programs are kept: HEADRACE_COMPILE_CACHE says so" in capsys.readouterr().out


# In the user's cache folder.


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of this user's, with nothing in it."""
    monkeypatch.delenv("HEADRACE_COMPILE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def is_kept(payload=b"code"):
    """Whether what is written now is found again."""
    name = program_store.name_of(b"request")
    program_store.write(name, some(payload))
    found = program_store.read(name)
    return found is not None and found.payload == payload


needs_owners = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners")


@needs_owners
def test_programs_are_kept_in_the_users_cache_folder(home, monkeypatch):
    assert is_kept()
    made = [home / ".cache", home / ".cache" / "headrace", home / ".cache" / "headrace" / "programs"]
    assert program_store.folder() == str(made[-1])
    assert [stat.S_IMODE(each.stat().st_mode) for each in made] == [0o700] * 3
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "elsewhere"))
    assert program_store.read(program_store.name_of(b"request")) is None
    assert is_kept()
    assert (home / "elsewhere" / "headrace" / "programs" / "key").exists()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification has ignored
    assert program_store.folder() == str(made[-1])


def linked(home, name):
    (home / "target").mkdir(mode=0o700)
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).symlink_to(home / "target")


def readable(home):
    (home / ".cache/headrace/programs").mkdir(parents=True)
    (home / ".cache/headrace/programs").chmod(0o755)


def writable(home):
    (home / ".cache/headrace").mkdir(parents=True)
    (home / ".cache/headrace").chmod(0o777)


UNUSABLE = {
    "a linked folder": lambda home: linked(home, ".cache/headrace/programs"),
    "a link above it": lambda home: linked(home, ".cache/headrace"),
    "others can read it": readable,
    "others can write above it": writable,
    "a file in its place": lambda home: (home / ".cache").write_bytes(b""),
    "no home": lambda home: home.rmdir(),
    "the home of somebody else": lambda home: None,
}


@needs_owners
@pytest.mark.parametrize("what", UNUSABLE)
def test_a_cache_folder_that_cannot_be_used_is_silently_none(home, what, monkeypatch, caplog, capsys):
    UNUSABLE[what](home)
    if what == "the home of somebody else":
        owner = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    before = sorted(home.rglob("*"))
    with caplog.at_level("INFO", "headrace"):
        assert not is_kept()
        assert cache("show") == 0
    assert not caplog.records
    assert "It is not used: " in capsys.readouterr().out
    assert [each for each in sorted(home.rglob("*")) if each.suffix == ".program" or each.name == "key"] == []
    if what == "the home of somebody else":
        assert sorted(home.rglob("*")) == before


@needs_owners
def test_a_linked_cache_folder_of_the_users_is_used(home):
    """Many have ~/.cache on another disk."""
    linked(home, ".cache")
    assert is_kept()
    assert (home / "target" / "headrace" / "programs" / "key").exists()


def test_switches(home, monkeypatch):
    for value in ("0", ""):
        monkeypatch.setenv("HEADRACE_COMPILE_CACHE", value)
        assert program_store.folder() is None
        assert program_store.name_of(b"request") is None
    monkeypatch.setenv("HEADRACE_COMPILE_CACHE", "1")
    assert program_store.is_default()


def test_no_cache_for_an_unknown_processor(folder, monkeypatch):
    monkeypatch.setattr(program_store, "_processor", lambda: "")
    assert program_store.name_of(b"request") is None
    assert program_store.contents() is None
    assert list(folder.parent.iterdir()) == []


@pytest.mark.parametrize("setting", ["XLA_FLAGS", "JAX_DEFAULT_MATMUL_PRECISION"])
def test_programs_are_for_their_settings(folder, monkeypatch, setting):
    before = program_store.name_of(b"request")
    monkeypatch.setenv(setting, "something")
    assert program_store.name_of(b"request") != before


@pytest.mark.parametrize("part", ["_processor", "_sources", "_versions"])
def test_programs_are_for_what_made_them(folder, monkeypatch, part):
    before = program_store.name_of(b"request")
    monkeypatch.setattr(program_store, part, lambda: "another")
    assert program_store.name_of(b"request") != before


def test_programs_are_for_a_number_of_threads(folder, monkeypatch):
    before = program_store.name_of(b"request")
    monkeypatch.setattr(operating_system, "processor_count", lambda: 1000)
    assert program_store.name_of(b"request") != before


def test_programs_with_ops_of_others_are_not_kept(folder, monkeypatch):
    block = tf.function(lambda x: tf.cond(x > 0, lambda: tf.tanh(x), lambda: x))
    block = block.get_concrete_function(tf.constant(1.0))
    block = BlockBuilder().of_plan(block.graph.plan())
    assert program_store.name_of(b"request", block) is not None
    monkeypatch.setattr(REGISTRY["Tanh"], "lower", lambda ctx, x: x)
    assert program_store.name_of(b"request", block) is None


def test_lowerings_are_known_to_be_ours():
    strange = [name for name in index.OPS if not program_store.is_ours(REGISTRY[name].lower)]
    assert strange == []


# Options that another release of the compiler does not know.


class LoweredForOldXla:
    """Its compiler knows some options, and says of others what XLA says."""

    def __init__(self, *known):
        self.known = known

    def compile(self, compiler_options):
        for name in compiler_options:
            if name not in self.known:
                raise jax.errors.JaxRuntimeError(f"INVALID_ARGUMENT: No such compile option: '{name}'")
        return compiler_options


def test_an_unknown_option_is_dropped_alone():
    found, unknown = compiled_with(LoweredForOldXla("b", "d"), {"a": 1, "b": 2, "c": 3, "d": 4})
    assert found == {"b": 2, "d": 4}
    assert unknown == ("a", "c")


@pytest.mark.slow
def test_explain_names_an_unknown_option(monkeypatch):
    monkeypatch.setitem(programs.OPTIONS, "xla_no_such_option", 1)
    f = tf.function(chain, jit_compile=True)
    x = tf.constant([0.5])
    f(x)
    assert "without the options xla_no_such_option, which this release" in str(f.explain(x))


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
    monkeypatch.setattr(programs.Signature, "build", lambda *_: pytest.fail("compiled in the caller"))
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
    monkeypatch.setattr(programs.Signature, "build", lambda *_: pytest.fail("compiled in the caller"))
    tf.random.set_seed(3)
    f = tf.function(chain)
    x = tf.constant([0.5])
    results = {float(f(x)[0]) for _ in range(compilation._SEEDED + 2)}
    assert len(results) == 1
    (entry,) = f.get_concrete_function(x).graph.executable()._entries.values()
    assert entry.program is None
