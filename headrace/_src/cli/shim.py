"""`headrace shim`: a small distribution named `tensorflow` in this environment, whose `import tensorflow` is headrace.

Packages that require TensorFlow then install without it, and a plain `python script.py` finds headrace. The wheel is
written and unpacked here, as installers do it: no pip, no build tools, no network. pip lists and uninstalls it like any
other.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.machinery
import importlib.metadata
import os
import pathlib
import sys
import sysconfig
import tempfile
import zipfile

from headrace._src.version import HEADRACE_VERSION, VERSION

NAME = "tensorflow"
LABEL = "headrace"  # the local part of the version, which no TensorFlow has
SHIM_VERSION = f"{VERSION}+{LABEL}"
INFORMATION = f"{NAME}-{SHIM_VERSION}.dist-info"
WHEEL = f"{NAME}-{SHIM_VERSION}-py3-none-any.whl"

_MODULE = '''"""headrace, under the name of TensorFlow: see `headrace shim`, and `headrace shim --remove`."""

import importlib
import sys

try:
    alias = importlib.import_module("headrace._src.compat.tensorflow_names.alias")
except ModuleNotFoundError as error:
    if error.name != "headrace":
        raise
    raise ModuleNotFoundError(
        "tensorflow is only a name for headrace in this environment, and headrace is not installed: "
        "pip install headrace, or pip uninstall tensorflow.",
        name="headrace",
    ) from None

del sys.modules[__name__]  # to make place for the module that is meant
alias.stand_in()
importlib.import_module(__name__)
'''
_METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {SHIM_VERSION}
Summary: headrace under the name of TensorFlow, for packages that require it
License: Apache-2.0
Requires-Python: >=3.11
Requires-Dist: headrace>={HEADRACE_VERSION}
Requires-Dist: six
Requires-Dist: wrapt
Requires-Dist: packaging
Requires-Dist: requests
Requires-Dist: setuptools
Requires-Dist: termcolor
Requires-Dist: typing-extensions
Provides-Extra: and-cuda

`import tensorflow` is headrace in this environment. `headrace shim --remove` removes it, and so does
`pip uninstall tensorflow`.
"""
_WHEEL_FILE = f"Wheel-Version: 1.0\nGenerator: headrace {HEADRACE_VERSION}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class _RefusedError(Exception):
    """Why it is not done, in a sentence."""


def _files() -> dict[str, bytes]:
    """What the wheel has, by path; the last is the list of all."""
    files = {
        f"{NAME}/__init__.py": _MODULE,
        f"{INFORMATION}/METADATA": _METADATA,
        f"{INFORMATION}/WHEEL": _WHEEL_FILE,
        f"{INFORMATION}/top_level.txt": f"{NAME}\n",
    }
    contents = {path: text.encode() for path, text in files.items()}
    return {**contents, f"{INFORMATION}/RECORD": _record(contents)}


def _record(contents: dict[str, bytes]) -> bytes:
    lines = []
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{INFORMATION}/RECORD,,\n"]).encode()


def write_wheel(folder: str | os.PathLike[str]) -> pathlib.Path:
    """Write the wheel into a folder, the same to the last byte each time; returns its path."""
    path = pathlib.Path(folder) / WHEEL
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files().items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return path


def _site_packages() -> pathlib.Path:
    return pathlib.Path(sysconfig.get_path("purelib"))


def _installed_shim() -> importlib.metadata.Distribution | None:
    """The shim of this environment, of whichever version."""
    for found in importlib.metadata.distributions(name=NAME, path=[str(_site_packages())]):
        if found.version.endswith(f"+{LABEL}"):
            return found
    return None


def _real_tensorflow() -> str | None:
    """The TensorFlow that a program of this environment would import: the distribution, or else the folder."""
    spec = importlib.machinery.PathFinder.find_spec(NAME)
    shim = _installed_shim()
    if spec is None or spec.origin is None:  # nothing, or a folder that a removed one has left
        return None
    if shim is not None and pathlib.Path(spec.origin) == pathlib.Path(str(shim.locate_file(f"{NAME}/__init__.py"))):
        return None
    for found in importlib.metadata.distributions():
        name = found.metadata["Name"] or ""
        # Any name (tensorflow-cpu, tf-nightly, intel-tensorflow ...): what counts is who has the file.
        if any(str(file) == f"{NAME}/__init__.py" for file in found.files or ()):
            return f"{name} {found.version}"
    return os.path.dirname(spec.origin)


def install(out) -> None:
    """Put the shim into this environment."""
    real = _real_tensorflow()
    if real is not None:
        raise _RefusedError(
            f"TensorFlow itself is here ({real}), and the shim would stand in its place. `headrace run script.py` runs "
            "a program on headrace beside it; or make an environment without it."
        )
    marker = pathlib.Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    if sys.prefix == sys.base_prefix and marker.exists():
        raise _RefusedError(
            f"{sys.prefix} is managed by the operating system. Make an environment, `python -m venv .venv`, and "
            "install headrace and the shim there."
        )
    packages = _site_packages()
    if not os.access(packages, os.W_OK):
        raise _RefusedError(f"{packages} cannot be written to. Make an environment of your own with `python -m venv`.")
    _remove_shim()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(write_wheel(folder)) as archive:
        archive.extractall(packages)
    (packages / INFORMATION / "INSTALLER").write_text("headrace\n", encoding="utf-8")
    with open(packages / INFORMATION / "RECORD", "a", encoding="utf-8") as record:
        record.write(f"{INFORMATION}/INSTALLER,,\n")
    out.write(f"tensorflow {SHIM_VERSION} is in {packages}: it is headrace. `headrace shim --remove` removes it.\n")


def _remove_shim():
    shim = _installed_shim()
    if shim is None:
        return False
    packages = _site_packages()
    folder, information = packages / NAME, packages / f"{NAME}-{shim.version}.dist-info"
    listed = [packages / str(file) for file in shim.files or () if ".." not in file.parts]
    for path in [*listed, *folder.glob("__pycache__/__init__.*.pyc")]:
        path.unlink(missing_ok=True)
    for path in (folder / "__pycache__", folder, information):
        if path.is_dir() and not any(path.iterdir()):  # files of others stay
            path.rmdir()
    return True


def remove(out) -> None:
    """Take the shim away again; other files stay."""
    if _remove_shim():
        out.write(f"The shim is gone from {_site_packages()}.\n")
        return
    real = _real_tensorflow()
    if real is not None:
        raise _RefusedError(f"what is here is TensorFlow itself ({real}), not the shim; it stays.")
    out.write(f"There is no shim in {_site_packages()}.\n")


def main(arguments) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="headrace shim", description=__doc__.partition("\n")[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--remove", action="store_true", help="take it away again")
    what.add_argument("--wheel", metavar="FOLDER", help="only write the wheel there, for other environments")
    options = parser.parse_args(arguments)
    try:
        if options.wheel is not None:
            sys.stdout.write(f"{write_wheel(options.wheel)}\n")
        elif options.remove:
            remove(sys.stdout)
        else:
            install(sys.stdout)
    except (_RefusedError, OSError) as error:
        sys.stderr.write(f"headrace shim: {error}\n")
        return 1
    return 0
