"""`headrace doctor`: what is installed, whether the fast paths are on, and what to do if not."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
import time

import numpy as np

from headrace._src.core import accelerators, operating_system
from headrace._src.graph.compiling import program_store
from headrace._src.version import HEADRACE_VERSION

_REQUIRED = ("numpy", "ml_dtypes", "scipy", "jax", "jaxlib", "protobuf", "keras")
_OPTIONAL = {
    "h5py": "models as .h5 and .keras files need it: pip install h5py",
    "google_crc32c": "checksums of TFRecord files are slow without it: pip install google-crc32c",
    "PIL": "images other than JPEG need it: pip install pillow",
    "fsspec": "paths such as gs:// need it: pip install fsspec",
}

# What `pip install 'headrace[NAME]'` brings, and what it is for.
_EXTRAS = {
    "serving": "headrace serve needs it",
    "lite": "running and quantizing models of TensorFlow Lite needs it",
    "tensorboard": "headrace tensorboard needs it",
}

headrace = importlib.import_module("headrace")  # what users import, above all layers


class _Report:
    """Collects lines, and what is wrong."""

    def __init__(self):
        self.lines: list[str] = []
        self.problems: list[str] = []

    def say(self, name, text, problem=None):
        self.lines.append(f"{'!' if problem else ' '} {name:22s} {text}")
        if problem:
            self.problems.append(f"{name}: {problem}")


def _version(package):
    try:
        return importlib.metadata.version({"PIL": "pillow", "google_crc32c": "google-crc32c"}.get(package, package))
    except importlib.metadata.PackageNotFoundError:
        return None


def _seconds(function, count):
    function()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            function()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def _versions(report):
    report.say("headrace", f"{HEADRACE_VERSION}, as TensorFlow {headrace.__version__}")
    report.say("Python", f"{platform.python_version()} on {platform.platform()}",
               "3.11 or newer is needed" if sys.version_info < (3, 11) else None)  # fmt: skip
    for package in _REQUIRED:
        version = _version(package)
        report.say(package, version or "missing", None if version else f"pip install {package}")
    for package, use in _OPTIONAL.items():
        version = _version(package) if importlib.util.find_spec(package) else None
        report.say(package, version or f"not installed; {use}")
    for extra, use in _EXTRAS.items():
        versions = {package: _version(package) for package in _packages_of(extra)}
        there = ", ".join(f"{package} {version}" for package, version in versions.items() if version)
        missing = ", ".join(package for package, version in versions.items() if not version)
        if not versions:
            continue
        if missing:
            there = f"{f'{there}; ' if there else ''}not installed: {missing}; {use}: pip install 'headrace[{extra}]'"
        report.say(extra, there)


def _packages_of(extra):
    """The packages that an extra brings, as headrace was installed with it or could be."""
    try:
        requirements = importlib.metadata.requires("headrace") or []
    except importlib.metadata.PackageNotFoundError:  # a checkout that is only on the path
        return []
    found = (re.match(r"([\w.-]+).*;.*\bextra == ['\"]([\w-]+)['\"]", text) for text in requirements)
    return [match[1] for match in found if match and match[2] == extra]


def _devices(report):
    report.say("devices", f"{operating_system.processor_count()} processors, which are CPU:0")
    source = accelerators.source()
    reason = source.reason_for_none()
    found = [] if reason else accelerators.physical()
    for device in found:
        size = f", {device.memory / 2**30:.1f} GB" if device.memory else ""
        report.say(f"{device.kind}:{device.number}", f"{device.description}{size}, from {source.name}")
    if not found:
        report.say("GPUs and TPUs", f"none: {reason or f'{source.name} finds none'}")
        report.say("functions run on", "the processors")
        return
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None:
        report.say("CUDA_VISIBLE_DEVICES", f"{hidden!r}: only these are listed")
    try:
        used = accelerators.logical()
        name = f"{used[0].kind}:{used[0].number}"
        report.say("functions run on", f"{name}, unless tf.device says otherwise; scripts/accelerator tests it")
    except Exception as error:
        report.say("functions run on", "nothing", f"{type(error).__name__}: {error}")


def _threads(report):
    threads = {name: os.environ[name] for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS") if name in os.environ}
    report.say("threads of products", ", ".join(f"{k}={v}" for k, v in threads.items()) or "one for each processor")
    kernels = os.environ.get("OPENBLAS_CORETYPE")
    if kernels:
        told = "NumPy's products may be half as fast as without this variable (unset it, if nothing needs it)"
        report.say("kernels of products", f"OPENBLAS_CORETYPE={kernels}: {told}")


def _speeds(report):
    x = headrace.constant(np.ones(10, np.float32))
    eager = _seconds(lambda: x + x, 2000)
    slow = "something slows Python down: a debugger, a profiler, or a busy machine" if eager > 2e-5 else None
    report.say("eager op", f"{eager * 1e6:.1f} us", slow)
    a = np.random.default_rng(0).random((512, 512), np.float32)
    rate = 2 * 512**3 / _seconds(lambda: a @ a, 3) / 1e9
    weak = "NumPy has no fast matrix products: install it from PyPI or conda-forge" if rate < 2 else None
    report.say("matrix products", f"{rate:.0f} billion operations per second", weak)


def _compiler(report):
    if os.environ.get("HEADRACE_COMPILE") == "0":
        report.say("background compiler", "off (HEADRACE_COMPILE=0)", "unset HEADRACE_COMPILE to have it")
    else:
        report.say("background compiler", "on")
    try:
        start = time.perf_counter()
        value = headrace.function(lambda x: headrace.tanh(x) * 2.0, jit_compile=True)(headrace.constant([0.5]))
        seconds = time.perf_counter() - start
        good = abs(float(value[0]) - 2 * np.tanh(0.5)) < 1e-5
        report.say("XLA", f"compiles a small function in {seconds:.1f} s", None if good else "its result is wrong")
    except Exception as error:
        report.say("XLA", f"{type(error).__name__}: {error}", "functions run without it: pip install --upgrade jax")
    cache, problem = program_store.folder(), program_store.problem()
    if cache is None:
        report.say("cache of programs", "off")
    elif problem and program_store.is_default():  # homes that cannot be written to are no fault
        report.say("cache of programs", f"none: {problem}")
    else:
        report.say("cache of programs", cache, problem)


def _keras(report):
    if importlib.util.find_spec("keras") is None:
        return
    try:
        report.say("tf.keras", f"Keras {headrace.keras.__version__} on its {headrace.keras.backend.backend()} backend")
    except Exception as error:
        report.say("tf.keras", f"{type(error).__name__}: {error}", "import headrace before keras and tensorflow")


def doctor() -> int:
    """Print the report; returns the exit code."""
    report = _Report()
    for part in (_versions, _devices, _threads, _speeds, _compiler, _keras):
        part(report)
    sys.stdout.write("\n".join(report.lines) + "\n\n")
    if report.problems:
        sys.stdout.write("To be mended:\n" + "".join(f"- {problem}\n" for problem in report.problems))
        return 1
    sys.stdout.write("All is well.\n")
    return 0
