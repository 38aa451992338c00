"""Files that only one user may touch."""

import os
import stat

import pytest

from headrace._src.core import private_files
from headrace._src.core.private_files import NotPrivate

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_written_and_read(tmp_path):
    folder = private_files.private_folder(str(tmp_path / "a" / "b"))
    assert mode(folder) == 0o700
    path = os.path.join(folder, "secret")
    private_files.write(path, b"one")
    private_files.write(path, b"two")
    assert mode(path) == 0o600
    assert private_files.read(path, secret=True) == b"two"
    assert os.listdir(folder) == ["secret"]
    with pytest.raises(FileNotFoundError):
        private_files.read(path + "x")


def test_links_are_not_followed(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"keep")
    os.chmod(target, 0o600)
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(OSError, match="link"):
        private_files.read(str(link))
    private_files.write(str(link), b"new")  # which replaces the link
    assert target.read_bytes() == b"keep"
    assert not link.is_symlink()
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    with pytest.raises(NotPrivate, match="link"):
        private_files.private_folder(str(tmp_path / "folder"))


@pytest.mark.parametrize("bits", [0o620, 0o602, 0o666])
def test_what_others_can_write_is_refused(tmp_path, bits):
    path = tmp_path / "file"
    path.write_bytes(b"x")
    os.chmod(path, bits)
    with pytest.raises(NotPrivate, match=f"mode {bits:o}"):
        private_files.read(str(path))


def test_what_others_can_read_is_no_secret(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x")
    os.chmod(path, 0o644)
    assert private_files.read(str(path)) == b"x"
    with pytest.raises(NotPrivate):
        private_files.read(str(path), secret=True)
    os.chmod(tmp_path, 0o755)
    with pytest.raises(NotPrivate):
        private_files.private_folder(str(tmp_path))


def test_what_belongs_to_others_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "file"
    private_files.write(str(path), b"x")
    os.chmod(tmp_path, 0o700)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.raises(NotPrivate, match=f"belongs to the user {user}"):
        private_files.read(str(path))
    with pytest.raises(NotPrivate, match="belongs"):
        private_files.private_folder(str(tmp_path))


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(NotPrivate, match="no file"):  # and nobody waits for a writer
        private_files.read(str(tmp_path / "pipe"))


def test_folders_that_others_write_to(tmp_path):
    private_files.check_folder(str(tmp_path))
    os.chmod(tmp_path, 0o777)
    with pytest.raises(NotPrivate, match="other users can write"):
        private_files.check_folder(str(tmp_path))
    os.chmod(tmp_path, 0o1777)
    private_files.check_folder(str(tmp_path))  # as /tmp: each may change what is theirs


def test_the_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = private_files.runtime_folder()
    assert folder == str(tmp_path / f"headrace-{os.getuid()}")
    assert mode(folder) == 0o700
