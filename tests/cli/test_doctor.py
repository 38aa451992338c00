"""`headrace doctor`."""

import os
import subprocess
import sys

from headrace._src.cli import doctor


def _doctor(**env):
    return subprocess.run(
        [sys.executable, "-m", "headrace", "doctor"], capture_output=True, text=True, env={**os.environ, **env}
    )


def test_says_what_is_there():
    result = _doctor()
    for word in ("headrace", "numpy", "XLA", "eager op", "devices"):
        assert word in result.stdout
    assert "Traceback" not in result.stderr


def test_says_what_extras_lack(monkeypatch):
    versions = {"grpcio": "1.85.1", "orjson": "3.13.0", "uvicorn": "0.54.0"}
    monkeypatch.setattr(doctor, "_version", versions.get)
    report = doctor._Report()
    doctor._versions(report)
    (line,) = (line for line in report.lines if line.split()[0] == "serving")
    for part in ("grpcio 1.85.1", "uvicorn 0.54.0", "not installed: httptools;", "pip install 'headrace[serving]'"):
        assert part in line
    versions["httptools"] = "0.9"
    report = doctor._Report()
    doctor._versions(report)
    (line,) = (line for line in report.lines if line.split()[0] == "serving")
    assert "httptools 0.9" in line
    assert "not installed" not in line


def test_says_what_to_do_when_the_compiler_is_off():
    result = _doctor(HEADRACE_COMPILE="0")
    assert "unset HEADRACE_COMPILE" in result.stdout
    assert result.returncode == 1


def test_says_when_the_environment_chooses_kernels():
    assert "half as fast" in _doctor(OPENBLAS_CORETYPE="Haswell").stdout
    assert "half as fast" not in _doctor(OPENBLAS_CORETYPE="").stdout
