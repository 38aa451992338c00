"""File systems: this machine's, `ram://` and fsspec's, which behave alike; patterns of paths; writes in one step."""

import os
import pathlib
import threading

import pytest

import headrace as tf
from headrace._src.formats import files as filesystem
from headrace._src.formats import path_patterns, remote_files

try:
    import fsspec
except ImportError:
    fsspec = None

SCHEMES = ["local", "ram", pytest.param("memory", marks=pytest.mark.skipif(fsspec is None, reason="needs fsspec"))]


@pytest.fixture(params=SCHEMES)
def root(request, tmp_path):
    """An empty directory in each file system."""
    if request.param == "local":
        yield str(tmp_path)
        return
    path = f"{request.param}://{request.node.originalname}"
    filesystem.make_directories(path)
    yield path
    if filesystem.exists(path):
        filesystem.remove_tree(path)


def put(path, contents=b"x"):
    with filesystem.open_file(path, "w") as file:
        file.write(contents)
    return path


def test_write_read_append(root):
    path = put(f"{root}/file", b"one")
    assert filesystem.read(path) == b"one"
    with filesystem.open_file(path, "a") as file:
        file.write(b" two")
    assert filesystem.read(path) == b"one two"
    filesystem.write(path, b"three")
    assert filesystem.read(path) == b"three"
    put(path, b"4")
    assert filesystem.read(path) == b"4"
    with filesystem.open_file(path) as file:
        assert file.read(1) == b"4"
        assert file.read(1) == b""
        assert file.seek(0) == 0


def test_questions(root):
    path = put(f"{root}/file", b"12345")
    assert filesystem.exists(path)
    assert filesystem.exists(root)
    assert not filesystem.exists(f"{root}/other")
    assert not filesystem.exists(f"{path}/below")
    assert filesystem.is_directory(root)
    assert not filesystem.is_directory(path)
    assert not filesystem.is_directory(f"{root}/other")
    found = filesystem.stat(path)
    assert (found.length, found.is_directory) == (5, False)
    assert found.mtime_nsec > 0
    assert filesystem.stat(root).is_directory
    with pytest.raises(tf.errors.NotFoundError, match="other"):
        filesystem.stat(f"{root}/other")


def test_directories(root):
    filesystem.make_directory(f"{root}/a")
    filesystem.make_directory(f"{root}/a")
    filesystem.make_directories(f"{root}/b/c/d")
    filesystem.make_directories(f"{root}/b/c/d")
    filesystem.make_directories("")
    put(f"{root}/b/file")
    assert filesystem.names_in(root) == ["a", "b"]
    assert filesystem.names_in(f"{root}/b/") == ["c", "file"]
    assert filesystem.names_in(f"{root}/b/c/d") == []
    with pytest.raises(tf.errors.FailedPreconditionError, match="not a directory"):
        filesystem.make_directories(f"{root}/b/file")
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
        filesystem.names_in(f"{root}/b/file")
    with pytest.raises(tf.errors.FailedPreconditionError, match="[Dd]irectory"):
        filesystem.open_file(f"{root}/b")
    with pytest.raises(tf.errors.FailedPreconditionError, match="[Dd]irectory"):
        filesystem.remove(f"{root}/b")
    filesystem.remove_tree(f"{root}/b")
    assert filesystem.names_in(root) == ["a"]
    with pytest.raises(tf.errors.NotFoundError):
        filesystem.remove_tree(f"{root}/b")


def test_remove(root):
    path = put(f"{root}/file")
    filesystem.remove(path)
    assert not filesystem.exists(path)
    assert filesystem.is_directory(root)
    with pytest.raises(tf.errors.NotFoundError, match="file"):
        filesystem.remove(path)
    filesystem.remove_tree(put(path))
    assert not filesystem.exists(path)


def test_rename_and_copy(root, tmp_path):
    path, other = put(f"{root}/one", b"1"), f"{root}/two"
    filesystem.rename(path, other)
    assert not filesystem.exists(path)
    assert filesystem.read(other) == b"1"
    filesystem.copy(other, path)
    assert filesystem.read(path) == filesystem.read(other) == b"1"
    for function in (filesystem.rename, filesystem.copy):
        with pytest.raises(tf.errors.AlreadyExistsError, match="two; file already exists"):
            function(path, other)
        with pytest.raises(tf.errors.NotFoundError, match="none"):
            function(f"{root}/none", f"{root}/three")
    put(path, b"new")
    filesystem.copy(path, other, overwrite=True)
    assert filesystem.read(other) == b"new"
    filesystem.copy(path, path, overwrite=True)
    assert filesystem.read(path) == b"new"
    filesystem.rename(path, other, overwrite=True)
    assert filesystem.names_in(root) == ["two"]
    filesystem.make_directories(f"{root}/d/e")
    put(f"{root}/d/e/file", b"deep")
    filesystem.rename(f"{root}/d", f"{root}/moved")
    assert filesystem.read(f"{root}/moved/e/file") == b"deep"
    assert not filesystem.exists(f"{root}/d")
    with pytest.raises(tf.errors.InvalidArgumentError, match="is a directory"):
        filesystem.copy(f"{root}/moved", f"{root}/copy")
    filesystem.copy(other, tmp_path / "elsewhere", overwrite=True)
    assert (tmp_path / "elsewhere").read_bytes() == b"new"


def test_names_that_look_like_patterns(root):
    for name in ("[x]", "a*", "a?", "ab"):
        filesystem.make_directories(f"{root}/{name}/below")
        put(f"{root}/{name}/below/file", name.encode())
        put(f"{root}/{name}.txt", name.encode())
    filesystem.remove_tree(f"{root}/a*")
    filesystem.remove(f"{root}/a*.txt")
    assert filesystem.names_in(root) == ["[x]", "[x].txt", "a?", "a?.txt", "ab", "ab.txt"]
    filesystem.rename(f"{root}/a?", f"{root}/[y]")
    filesystem.rename(f"{root}/[x].txt", f"{root}/*")
    assert filesystem.names_in(root) == ["*", "[x]", "[y]", "a?.txt", "ab", "ab.txt"]
    assert filesystem.read(f"{root}/[y]/below/file") == b"a?"
    assert filesystem.read(f"{root}/*") == b"[x]"


def test_walk(root):
    for name in ("b/c/3", "b/2", "1"):
        filesystem.make_directories(f"{root}/{name}".rpartition("/")[0])
        put(f"{root}/{name}")
    filesystem.make_directories(f"{root}/a")
    top = [(root, ["a", "b"], ["1"]), (f"{root}/a", [], []), (f"{root}/b", ["c"], ["2"]), (f"{root}/b/c", [], ["3"])]
    assert list(filesystem.walk(root)) == top
    assert list(filesystem.walk(root, topdown=False)) == [top[1], top[3], top[2], top[0]]
    assert list(filesystem.walk(f"{root}/none")) == []
    errors = []
    assert list(filesystem.walk(f"{root}/none", onerror=errors.append)) == []
    assert [type(error) for error in errors] == [tf.errors.NotFoundError]


def test_matching(root):
    names = ["a1.txt", "a2.txt", "b.txt", ".hidden", "sub/c.txt", "sub/deep/d.txt", "[x].txt"]
    for name in names:
        filesystem.make_directories(f"{root}/{name}".rpartition("/")[0])
        put(f"{root}/{name}")
    table = {
        "*": [".hidden", "[x].txt", "a1.txt", "a2.txt", "b.txt", "sub"],
        "*/": [".hidden", "[x].txt", "a1.txt", "a2.txt", "b.txt", "sub"],
        "a?.txt": ["a1.txt", "a2.txt"],
        "[ab]*.txt": ["a1.txt", "a2.txt", "b.txt"],
        "[!a]*.txt": ["[x].txt", "b.txt"],
        "[^a]*.txt": ["[x].txt", "b.txt"],
        "a[0-1].txt": ["a1.txt"],
        "[[:alpha:]].txt": ["b.txt"],
        "\\[x\\].txt": ["[x].txt"],
        "*/c.txt": ["sub/c.txt"],
        "**/c.txt": ["sub/c.txt"],
        "*/*/*": ["sub/deep/d.txt"],
        "a1.txt": ["a1.txt"],
        "sub": ["sub"],
        "none": [],
        "none/*": [],
        "a1.txt/*": [],
        "{a1,b}.txt": [],
        "[z-a]": [],
        "a\\": [],
    }
    for pattern, expected in table.items():
        assert filesystem.matching(f"{root}/{pattern}") == [f"{root}/{name}" for name in expected], pattern
    assert filesystem.matching("") == []


def test_matching_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("")
    assert filesystem.matching("*") == ["./folder"]
    assert filesystem.matching("*/a.txt") == ["./folder/a.txt"]
    assert filesystem.matching("folder//*") == ["folder/a.txt"]
    assert filesystem.matching("./folder/*") == ["./folder/a.txt"]
    assert filesystem.matching("folder/a.txt") == ["folder/a.txt"]
    assert filesystem.matching(f"file://{tmp_path}/f*") == [f"file://{tmp_path}/folder"]


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("", [""], ["a"]),
        ("[]a]", ["]", "a"], ["[", "b"]),
        ("[!]a]", ["b"], ["]", "a"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[", ["["], ["a"]),
        ("[ab", ["[ab"], ["a"]),
        ("a.c", ["a.c"], ["abc"]),
        ("[\\]]", ["]"], ["\\"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
        ("?", ["é", "\n"], ["", "ab"]),
        ("a**b", ["ab", "axxb"], ["a"]),
        ("[z-a]", [], ["z", "a", "-"]),
        ("[!z-a]", ["z"], [""]),
        ("+(a)|^$", ["+(a)|^$"], ["a"]),
    ],
)
def test_patterns(pattern, matches, others):
    expression = path_patterns.component_expression(pattern)
    assert [text for text in matches + others if expression.fullmatch(text)] == matches


def test_paths_as_text():
    path = filesystem.path_string
    assert path("a/b") == path(b"a/b") == path(pathlib.PurePosixPath("a/b")) == "a/b"
    assert filesystem.path_bytes(path(b"\xff")) == b"\xff"
    for wrong in (3, None, ["a"]):
        with pytest.raises(TypeError, match="path"):
            path(wrong)


@pytest.mark.parametrize(
    ("path", "scheme"),
    [("a/b", ""), ("/a", ""), ("gs://b/c", "gs"), ("file:///a", "file"), ("a/b://c", ""), ("://a", ""), ("1a://b", ""),
     ("C:\\a", ""), ("s3://", "s3")],
)  # fmt: skip
def test_schemes(path, scheme):
    assert filesystem.scheme_of(path) == scheme


def test_reading_what_says_no_size(tmp_path):
    assert b"python" in filesystem.read("/proc/self/cmdline")  # of size 0, as the system says
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    contents = bytes(range(256)) * 4096
    writer = threading.Thread(target=pipe.write_bytes, args=(contents,))
    writer.start()
    assert filesystem.read(pipe) == contents
    writer.join()
    (tmp_path / "empty").touch()
    assert filesystem.read(tmp_path / "empty") == b""
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        filesystem.read(tmp_path)


def test_paths_with_zero_bytes():
    for function in (filesystem.read, filesystem.stat, filesystem.remove):
        with pytest.raises(tf.errors.InvalidArgumentError, match="null"):
            function("a\0b")


def test_between_systems(tmp_path):
    put("ram://between", b"x")
    with pytest.raises(tf.errors.UnimplementedError, match="different systems"):
        filesystem.rename("ram://between", tmp_path / "file")
    filesystem.copy("ram://between", tmp_path / "file")
    filesystem.rename(f"file://{tmp_path}/file", tmp_path / "other")
    assert filesystem.read(f"file://{tmp_path}/other") == b"x"


def test_unknown_schemes():
    for function in (filesystem.exists, filesystem.read, filesystem.names_in, filesystem.matching):
        with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'nobody' not implemented"):
            function("nobody://has/this")


def test_without_fsspec(monkeypatch):
    class Nothing:
        def __getattr__(self, name):
            raise ModuleNotFoundError("No module named 'fsspec'", name="fsspec")

    monkeypatch.setattr(remote_files.lazy, "fsspec", Nothing())
    monkeypatch.setattr(remote_files.lazy, "fsspec_core", Nothing())
    assert filesystem.schemes() == ["", "file", "ram"]
    with pytest.raises(tf.errors.UnimplementedError, match="'gs' not implemented.*Install fsspec"):
        filesystem.read("gs://bucket/file")


@pytest.mark.skipif(fsspec is None, reason="needs fsspec")
def test_scheme_whose_package_is_missing(monkeypatch):
    def missing(path):
        raise ImportError("Please install gcsfs")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    monkeypatch.setattr(remote_files.lazy, "fsspec_core", fsspec.core)
    with pytest.raises(tf.errors.UnimplementedError, match="Please install gcsfs"):
        filesystem.read("gs://bucket/file")


# Writes in one step.


def test_readers_see_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([i]) * 200_000 for i in (1, 2)]
    filesystem.write(path, contents[0])
    stop = threading.Event()

    def keep_writing():
        i = 0
        while not stop.is_set():
            i += 1
            filesystem.write(path, contents[i % 2])

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        for _ in range(200):
            assert path.read_bytes() in contents
    finally:
        stop.set()
        writer.join()
    assert os.listdir(tmp_path) == ["file"]


def test_replacing_keeps_links_and_rights(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    filesystem.write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    (tmp_path / "plain").touch()
    filesystem.write(tmp_path / "fresh", b"x")
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_failed_writes_leave_nothing_behind(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        filesystem.write(tmp_path / "folder", b"x")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        filesystem.write(tmp_path / "none" / "file", b"x")
    filesystem.write(tmp_path / "file", b"old")
    with pytest.raises(TypeError):
        filesystem.write(tmp_path / "file", 3)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everything")
def test_file_in_a_directory_that_may_not_be_written(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(b"old")
    folder.chmod(0o555)
    try:
        filesystem.write(folder / "file", b"new")
        assert (folder / "file").read_bytes() == b"new"
        with pytest.raises(tf.errors.PermissionDeniedError, match="Permission denied"):
            filesystem.write(folder / "other", b"new")
    finally:
        folder.chmod(0o755)


def test_ram_files_under_files():
    put("ram://under/file")
    for function in (lambda: put("ram://under/file/x"), lambda: filesystem.make_directories("ram://under/file/x")):
        with pytest.raises(tf.errors.FailedPreconditionError):
            function()
    with pytest.raises(tf.errors.FailedPreconditionError):
        filesystem.rename("ram://under", "ram://under/file/y")
    with pytest.raises(tf.errors.InvalidArgumentError):
        filesystem.rename("ram://under", "ram://under/below")
