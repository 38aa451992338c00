"""The recorded files of the interoperability proof: archives of what TensorFlow wrote."""

import io
import pathlib
import zipfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
FOLDER = TESTS / "golden" / "interop"
OLD_VERSIONS = TESTS / "fixtures" / "old_versions"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive each time


def version_of(text: str) -> tuple[int, ...]:
    """A version as numbers, for comparisons."""
    return tuple(int(part) for part in text.split(".")[:2])


def pack(source: pathlib.Path, target: pathlib.Path):
    """Put what one framework saved into an archive. The second checkpoint stays out: its tensors are in the results."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as archive:
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source).as_posix()
            if path.is_file() and not name.startswith("after/"):
                archive.writestr(zipfile.ZipInfo(name, EPOCH), _content(path), zipfile.ZIP_LZMA)


def _content(path):
    if path.suffix != ".npz":
        return path.read_bytes()
    plain = io.BytesIO()  # not compressed twice
    with np.load(path) as arrays:
        np.savez(plain, **arrays)
    return plain.getvalue()


def unpack(name: str, target: pathlib.Path) -> pathlib.Path:
    """The files of one program, in a folder with `checkpoint/`, `model/` (if it has functions) and `results.npz`."""
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as archive:
        archive.extractall(target)
    return target


def unpack_old_version(version: str, target: pathlib.Path) -> pathlib.Path:
    """What an old version saved: a folder for each case of `record_old_versions.py`."""
    with zipfile.ZipFile(OLD_VERSIONS / f"{version}.zip") as archive:
        archive.extractall(target)
    return target


def results(folder: pathlib.Path, name="results") -> dict[str, np.ndarray]:
    with np.load(folder / f"{name}.npz") as arrays:
        return dict(arrays)
