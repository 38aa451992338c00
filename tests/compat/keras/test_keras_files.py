"""cache of files: one put there by hand is used and stays; without a network, the error says what is missing."""

import hashlib
import os
import tarfile
import urllib.error
import warnings
import zipfile

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
pytest.importorskip("keras")

WRONG = "0" * 64
ORIGIN = "http://localhost:1/things/numbers.bin"  # nobody listens there


@pytest.fixture
def get_file():
    return tf.keras.utils.get_file


@pytest.fixture
def cache(tmp_path):
    (tmp_path / "datasets").mkdir()
    return tmp_path


@pytest.fixture
def offline(monkeypatch):
    """Downloads fail as they do without a network."""
    import keras.src.utils.file_utils as module

    def fail(url, *_, **__):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(module, "urlretrieve", fail)
    return module


def put(cache, name="numbers.bin", content=b"by hand"):
    path = cache / "datasets" / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("expected", [WRONG, "0" * 32], ids=["sha256", "md5"])
def test_a_file_with_another_hash_is_used_with_a_warning(get_file, cache, offline, expected):
    path = put(cache)
    with pytest.warns(UserWarning, match="not the file that Keras has published"):
        found = get_file("numbers.bin", ORIGIN, file_hash=expected, cache_dir=cache)
    assert found == str(path)
    assert path.read_bytes() == b"by hand"


def test_the_old_argument_md5_hash(get_file, cache, offline):
    path = put(cache)
    with pytest.warns(UserWarning, match="is used all the same"):
        assert get_file("numbers.bin", ORIGIN, md5_hash="0" * 32, cache_dir=cache) == str(path)
    assert path.exists()


def test_the_right_hash_warns_of_nothing(get_file, cache, offline):
    path = put(cache)
    right = hashlib.sha256(b"by hand").hexdigest()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_file("numbers.bin", ORIGIN, file_hash=right, cache_dir=cache) == str(path)


def test_the_name_from_the_origin(get_file, cache, offline):
    path = put(cache)
    with pytest.warns(UserWarning, match="published"):
        assert get_file(origin=ORIGIN, file_hash=WRONG, cache_dir=cache) == str(path)


def test_a_link_and_its_target_stay(get_file, cache, tmp_path_factory, offline):
    target = tmp_path_factory.mktemp("elsewhere") / "real.bin"
    target.write_bytes(b"linked")
    link = cache / "datasets" / "numbers.bin"
    link.symlink_to(target)
    with pytest.warns(UserWarning, match="published"):
        found = get_file("numbers.bin", ORIGIN, file_hash=WRONG, cache_dir=cache)
    assert found == str(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"linked"


@pytest.mark.parametrize("file_hash", [None, WRONG], ids=["no hash", "another hash"])
def test_a_cache_that_cannot_be_written_to(get_file, cache, offline, monkeypatch, file_hash):
    path = put(cache)
    # A test may run as root, to whom every folder is writable: say that it is not.
    access = os.access
    monkeypatch.setattr(os, "access", lambda p, mode: not (mode & os.W_OK) and access(p, mode))
    cache.chmod(0o555)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = get_file("numbers.bin", ORIGIN, file_hash=file_hash, cache_dir=cache)
    finally:
        cache.chmod(0o755)
    assert found == str(path)
    assert path.read_bytes() == b"by hand"
    assert len(caught) == (file_hash is not None)


def test_without_a_network_the_error_names_file_and_place(get_file, cache, offline):
    with pytest.raises(Exception, match="put the file there by hand") as caught:
        get_file("numbers.bin", ORIGIN, file_hash=WRONG, cache_dir=cache)
    assert ORIGIN in str(caught.value)
    assert str(cache / "datasets" / "numbers.bin") in str(caught.value)


@pytest.mark.parametrize("error", [
    urllib.error.URLError("down"), urllib.error.HTTPError(ORIGIN, 404, "Not Found", {}, None),
    ConnectionResetError("reset"), TimeoutError("late"),
], ids=lambda e: type(e).__name__)  # fmt: skip
def test_errors_of_the_network_of_every_kind(get_file, cache, monkeypatch, error):
    import keras.src.utils.file_utils as module

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(module, "urlretrieve", fail)
    with pytest.raises(Exception, match="numbers.bin"):
        get_file("numbers.bin", ORIGIN, cache_dir=cache)


def test_other_errors_stay_what_they_are(get_file, cache):
    with pytest.raises(ValueError, match="origin"):
        get_file("numbers.bin", cache_dir=cache)
    with pytest.raises(ValueError, match="Paths are no longer accepted"):
        get_file(os.path.join("a", "numbers.bin"), ORIGIN, cache_dir=cache)


def test_a_download_whose_hash_is_wrong_is_an_error(get_file, cache, tmp_path):
    served = tmp_path / "served.bin"
    served.write_bytes(b"other")
    with pytest.raises(ValueError, match="[Ii]ncomplete or corrupted"):
        get_file("numbers.bin", served.as_uri(), file_hash=WRONG, cache_dir=cache)


def test_force_download_downloads(get_file, cache, tmp_path):
    put(cache)
    served = tmp_path / "served.bin"
    served.write_bytes(b"anew")
    found = get_file("numbers.bin", served.as_uri(), file_hash=hashlib.sha256(b"anew").hexdigest(), cache_dir=cache,
                     force_download=True)  # fmt: skip
    with open(found, "rb") as file:
        assert file.read() == b"anew"


def archive(path, kind):
    inside = path.parent / "inside.txt"
    inside.write_text("content")
    if kind == "tar":
        with tarfile.open(path, "w:gz") as file:
            file.add(inside, "things/inside.txt")
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.write(inside, "things/inside.txt")
    return path


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("fname", [None, "things", "things.tgz"])
def test_archives_are_extracted_where_keras_does(get_file, cache, tmp_path, kind, fname):
    source = archive(tmp_path / "source.tgz", kind)
    folder = {None: "source.tgz", "things": "things", "things.tgz": "things_extracted"}[fname]
    right = hashlib.sha256(source.read_bytes()).hexdigest()
    found = get_file(fname, source.as_uri(), extract=True, file_hash=right, cache_dir=cache)
    assert found == str(cache / "datasets" / folder)
    assert (cache / "datasets" / folder / "things" / "inside.txt").read_text() == "content"


@pytest.mark.parametrize(("fname", "place"), [
    (None, "source.tgz_archive"), ("things", "things_archive"), ("things.tgz", "things.tgz"),
])  # fmt: skip
def test_an_archive_put_there_by_hand_is_extracted(get_file, cache, tmp_path, offline, fname, place):
    archive(cache / "datasets" / place, "tar")
    with pytest.warns(UserWarning, match="published"):
        found = get_file(fname, "http://localhost:1/source.tgz", extract=True, file_hash=WRONG, cache_dir=cache)
    assert (cache / "datasets" / place).exists()
    assert os.path.isfile(os.path.join(found, "things", "inside.txt"))


def test_a_missing_archive_names_its_place(get_file, cache, offline):
    with pytest.raises(Exception, match="source.tgz_archive"):
        get_file(origin="http://localhost:1/source.tgz", extract=True, cache_dir=cache)


def test_mnist_put_there_by_hand(cache, offline, monkeypatch):
    content = {
        "x_train": np.zeros((3, 28, 28), np.uint8), "y_train": np.arange(3, dtype=np.uint8),
        "x_test": np.ones((2, 28, 28), np.uint8), "y_test": np.arange(2, dtype=np.uint8),
    }  # fmt: skip
    path = cache / "datasets" / "mnist.npz"
    np.savez(path, **content)
    monkeypatch.setattr(offline.config, "keras_home", lambda: str(cache))
    with pytest.warns(UserWarning, match="mnist.npz is not the file"):
        (x, y), (test_x, _) = tf.keras.datasets.mnist.load_data()
    assert x.shape == (3, 28, 28)
    assert y.tolist() == [0, 1, 2]
    assert test_x.mean() == 1
    assert path.exists()


def test_fashion_mnist_says_which_file_is_missing(cache, offline, monkeypatch):
    monkeypatch.setattr(offline.config, "keras_home", lambda: str(cache))
    with pytest.raises(Exception, match="train-labels-idx1-ubyte.gz") as caught:
        tf.keras.datasets.fashion_mnist.load_data()
    assert os.path.join("fashion-mnist", "train-labels-idx1-ubyte.gz") in str(caught.value)
