"""`tf.io.gfile` and the 1.x `tf.gfile`: what TensorFlow's do, error for error."""

import os
import pathlib

import pytest

import headrace as tf

gfile = tf.io.gfile
v1 = tf.compat.v1.gfile


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\r\nthree\nlast")
    return tmp_path


@pytest.mark.parametrize("mode", ["r", "rb", "r+", "r+b", "rb+", "br", "w", "wb", "w+", "wb+", "a", "ab", "a+", "ab+"])
def test_modes(mode, folder):
    with gfile.GFile("a.txt", mode) as file:
        assert (file.name, file.mode) == ("a.txt", mode)
        if "r" in mode:
            assert file.read(3) == (b"one" if "b" in mode else "one")
        else:
            file.write(b"\xff" if "b" in mode else "é")
    length = {"r": 19, "w": 1, "a": 20}[mode.replace("b", "")[0]] + ("b" not in mode and "r" not in mode)
    assert (folder / "a.txt").stat().st_size == length


@pytest.mark.parametrize("mode", ["x", "", "rt", "U", "rw", "rbb", "+", "wr"])
def test_modes_that_are_none(mode):
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode"):
        gfile.GFile("a.txt", mode)


def test_reading_text(folder):
    file = gfile.GFile("a.txt")
    assert file.read(2) == "on"
    assert file.tell() == 2
    assert [file.readline(), file.readline()] == ["e\n", "two\n"]
    assert file.tell() == 9
    assert file.readlines() == ["three\n", "last"]
    assert file.read() == file.readline() == file.read(-1) == ""
    file.seek(0)
    assert file.read() == "one\ntwo\r\nthree\nlast"
    file.seek(0)
    assert next(file) == "one\n"
    file.seek(0)
    assert file.next() == "one\n"
    assert iter(file) is file
    assert list(file) == ["two\n", "three\n", "last"]
    assert file.size() == 19
    assert file.seekable()
    file.close()
    file.close()
    assert file.read(3) == "one"  # opened again
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative number of bytes: -5"):
        file.read(-5)
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for writing"):
        file.write("x")


def test_reading_bytes(folder):
    with gfile.GFile("a.txt", "rb") as file:
        assert file.readline() == b"one\n"
        assert list(file) == [b"two\n", b"three\n", b"last"]
        file.seek(4)
        assert file.read() == b"two\r\nthree\nlast"
    (folder / "binary").write_bytes(b"\xc8\xff")
    with pytest.raises(UnicodeDecodeError):
        gfile.GFile("binary").read()


def test_seek(folder):
    file = gfile.GFile("a.txt")
    for arguments, position in [((4,), 4), ((2, 1), 6), ((-4, 2), 15), ((0, 2), 19), ((-19, 1), 0)]:
        assert file.seek(*arguments) is None
        assert file.tell() == position
    file.seek(offset=1)
    file.seek(position=2)
    assert file.read(3) == "e\nt"
    with pytest.raises(tf.errors.InvalidArgumentError, match="whence"):
        file.seek(0, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative position: -5"):
        file.seek(-5)
    assert file.tell() == 5
    with pytest.raises(tf.errors.OutOfRangeError, match="end of file"):
        file.seek(1000)
    assert file.tell() == 19
    with pytest.raises(TypeError, match="offset"):
        file.seek()


def test_writing(folder):
    file = gfile.GFile("new", "w")
    assert not os.path.exists("new")
    assert file.write("äb") is None
    assert file.tell() == 3
    file.write(b"c")
    file.flush()
    assert pathlib.Path("new").read_bytes() == "äbc".encode()
    file.write(bytearray(b"d"))
    assert file.size() == 5
    with pytest.raises(TypeError, match="got 3"):
        file.write(3)
    for read in (file.read, file.readline, file.readlines, lambda: file.seek(0)):
        with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for reading"):
            read()
    file.close()
    file.write("again")
    file.close()
    assert pathlib.Path("new").read_bytes() == b"again"
    with gfile.GFile("new", "a") as more:
        more.write(" and again")
    assert gfile.GFile("new").read() == "again and again"
    with gfile.GFile("never written", "w"):
        pass
    assert not os.path.exists("never written")
    with gfile.GFile("empty", "w") as empty:
        empty.write("")
    assert os.path.getsize("empty") == 0


def test_what_was_written_is_kept_when_the_file_is_dropped(folder):
    gfile.GFile("dropped", "w").write("x")
    assert gfile.GFile("dropped").read() == "x"


@pytest.mark.parametrize("prefix", ["", "ram://both/"])
def test_reading_and_writing(prefix, folder):
    with gfile.GFile(f"{prefix}both", "w+") as file:
        file.write("hello\nworld")
        file.seek(0)
        assert file.read() == "hello\nworld"
    with gfile.GFile(f"{prefix}both", "r+") as file:
        assert file.read(2) == "he"
        file.write("XX")
    assert gfile.GFile(f"{prefix}both").read() == "heXXo\nworld"
    with gfile.GFile(f"{prefix}both", "a+") as file:
        assert file.read(4) == "heXX"
        file.write("!")
    assert gfile.GFile(f"{prefix}both").read() == "heXXo\nworld!"


def test_files_that_cannot_be_opened(folder):
    missing = gfile.GFile("missing")
    for use in (missing.read, missing.size, missing.readline, missing.tell, lambda: missing.seek(0)):
        with pytest.raises(tf.errors.NotFoundError, match="missing; No such file or directory"):
            use()
    missing.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        gfile.GFile(".").read()
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        gfile.GFile(".", "w").write("x")
    with pytest.raises(tf.errors.NotFoundError, match="none/file; No such file"):
        gfile.GFile("none/file", "w").write("x")
    with pytest.raises(tf.errors.UnimplementedError, match="scheme 'nobody' not implemented"):
        gfile.GFile("nobody://file").read()


def test_forms_of_paths(folder):
    for path in ("a.txt", b"a.txt", pathlib.Path("a.txt")):
        assert gfile.exists(path)
        assert gfile.stat(path).length == 19
        assert gfile.GFile(path).read(3) == "one"
        assert gfile.glob(path) == ["a.txt"]
        assert not gfile.isdir(path)
    for function in (gfile.exists, gfile.isdir, gfile.stat, gfile.remove, gfile.listdir, gfile.mkdir, gfile.GFile):
        with pytest.raises(TypeError):
            function(3)


def test_functions(folder):
    assert [gfile.exists(path) for path in (".", "", "none", "a.txt/x")] == [True, False, False, False]
    assert [gfile.isdir(path) for path in (".", "", "none", "a.txt")] == [True, False, False, False]
    assert gfile.mkdir("d") is gfile.mkdir("d") is gfile.mkdir("a.txt") is gfile.mkdir("") is None
    assert gfile.makedirs("x/y/z") is gfile.makedirs("x/y/z") is gfile.makedirs("") is None
    assert gfile.listdir(".") == ["a.txt", "d", "x"]
    assert gfile.copy("a.txt", "b.txt") is None
    assert gfile.rename("b.txt", "c.txt") is None
    assert gfile.glob("*.txt") == ["./a.txt", "./c.txt"]
    assert gfile.glob(["c*", "a*", "none"]) == ["./c.txt", "./a.txt"]
    assert gfile.stat("c.txt").length == 19
    assert gfile.stat("d").is_directory
    assert abs(gfile.stat("c.txt").mtime_nsec - os.stat("c.txt").st_mtime_ns) < 1000
    assert list(gfile.walk(".")) == [(".", ["d", "x"], ["a.txt", "c.txt"]), ("./d", [], []), ("./x", ["y"], []),
                                     ("./x/y", ["z"], []), ("./x/y/z", [], [])]  # fmt: skip
    assert next(gfile.walk(b"x", topdown=False)) == ("x/y/z", [], [])
    assert gfile.remove("c.txt") is gfile.rmtree("x") is None
    assert gfile.listdir(b".") == ["a.txt", "d"]
    assert {"", "file", "ram"} <= set(gfile.get_registered_schemes())


# TensorFlow's classes, asked of it.
ERRORS = [
    (lambda: gfile.mkdir("p/q"), "NotFoundError"),
    (lambda: gfile.mkdir("a.txt/d"), "FailedPreconditionError"),
    (lambda: gfile.makedirs("a.txt"), "FailedPreconditionError"),
    (lambda: gfile.makedirs("a.txt/q/r"), "FailedPreconditionError"),
    (lambda: gfile.listdir("none"), "NotFoundError"),
    (lambda: gfile.listdir("a.txt"), "NotFoundError"),
    (lambda: gfile.listdir(""), "NotFoundError"),
    (lambda: gfile.remove("none"), "NotFoundError"),
    (lambda: gfile.remove("d"), "FailedPreconditionError"),
    (lambda: gfile.remove(""), "NotFoundError"),
    (lambda: gfile.rmtree("none"), "NotFoundError"),
    (lambda: gfile.copy("a.txt", "b.txt"), "AlreadyExistsError"),
    (lambda: gfile.copy("none", "q"), "NotFoundError"),
    (lambda: gfile.copy("d", "q"), "InvalidArgumentError"),
    (lambda: gfile.copy("a.txt", "d", overwrite=True), "FailedPreconditionError"),
    (lambda: gfile.copy("a.txt", "p/q"), "NotFoundError"),
    (lambda: gfile.rename("a.txt", "b.txt"), "AlreadyExistsError"),
    (lambda: gfile.rename("none", "b.txt"), "AlreadyExistsError"),
    (lambda: gfile.rename("none", "q"), "NotFoundError"),
    (lambda: gfile.rename("d", "full", overwrite=True), "FailedPreconditionError"),
    (lambda: gfile.rename("a.txt", "d", overwrite=True), "FailedPreconditionError"),
    (lambda: gfile.rename("d", "a.txt", overwrite=True), "FailedPreconditionError"),
    (lambda: gfile.rename("a.txt", "ram://a"), "UnimplementedError"),
    (lambda: gfile.stat("none"), "NotFoundError"),
    (lambda: gfile.stat(""), "NotFoundError"),
    (lambda: gfile.stat("a.txt/x"), "FailedPreconditionError"),
    (lambda: gfile.exists("nobody://x"), "UnimplementedError"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "error"), ERRORS)
def test_errors(function, error, folder):
    (folder / "b.txt").touch()
    (folder / "d").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    with pytest.raises(getattr(tf.errors, error)) as raised:
        function()
    assert raised.value.error_code == tf.compat.v1.errors.error_code_from_exception_type(getattr(tf.errors, error))


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (("a", "b"), "a/b"), (("a", "/b"), "/b"), (("a/", "b"), "a/b"), (("a",), "a"), (("", "b"), "b"),
        (("a", ""), "a/"), (("ram://a", "b"), "ram://a/b"), (("ram://a", "/b"), "/b"), (("gs://x/", "y", "z"), "gs://x/y/z"),
        (("a", "b/", "c"), "a/b/c"), (("a", "gs://b"), "a/gs://b"), ((b"a", b"b"), b"a/b"),
        ((b"gs://a", b"b"), b"gs://a/b"), ((pathlib.PurePosixPath("a"), "b"), "a/b"),
    ],
)  # fmt: skip
def test_join(parts, joined):
    assert gfile.join(*parts) == joined


def test_join_errors():
    for parts in (("a", b"b"), ("gs://a", b"b"), ("a", 3), ("gs://a", 3)):
        with pytest.raises(TypeError):
            gfile.join(*parts)


def test_names_of_1x(folder):
    assert v1.Exists("a.txt")
    assert v1.IsDirectory(".")
    v1.MkDir("m")
    v1.MakeDirs("n/o")
    v1.Copy("a.txt", "m/b.txt")
    v1.Rename("m/b.txt", "m/c.txt")
    assert v1.ListDirectory("m") == ["c.txt"]
    assert v1.Glob("m/*") == ["m/c.txt"]
    assert v1.Stat("m/c.txt").length == 19
    assert list(v1.Walk("n")) == [("n", ["o"], []), ("n/o", [], [])]
    assert list(v1.Walk("n", in_order=False)) == [("n/o", [], []), ("n", ["o"], [])]
    v1.Remove("m/c.txt")
    v1.DeleteRecursively("n")
    assert v1.ListDirectory(".") == ["a.txt", "m"]
    assert v1.Open("a.txt").read(3) == v1.GFile("a.txt").read(3) == v1.FastGFile("a.txt", "r").read(3) == "one"
    assert issubclass(v1.FastGFile, gfile.GFile)
    with pytest.raises(tf.errors.AlreadyExistsError):
        v1.Copy("a.txt", "a.txt")


def test_match_filenames_once(folder):
    variable = tf.io.match_filenames_once("a*")
    (folder / "a2.txt").touch()
    assert variable.numpy().tolist() == [b"./a.txt"]
    assert not variable.trainable
    with tf.Graph().as_default() as graph:
        names = tf.compat.v1.train.match_filenames_once(["a*", "b*"])
        assert names.shape.as_list() == [None]
        assert graph.get_collection("local_variables") == [names]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.local_variables_initializer())
            assert session.run(names).tolist() == [b"./a.txt", b"./a2.txt"]


def test_file_ops_in_functions(folder):
    @tf.function
    def work(path, contents):
        tf.io.write_file(path, contents)
        before = tf.io.read_file(path)
        tf.io.write_file(path, contents + "!")
        return before, tf.io.read_file(path), tf.io.matching_files(path + "*")

    for text in (b"one", b"two"):
        before, after, names = work(tf.constant("in/a/function"), tf.constant(text))
        assert (before.numpy(), after.numpy()) == (text, text + b"!")
        assert names.numpy().tolist() == [b"in/a/function"]
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        work(tf.constant("in"), tf.constant(""))
