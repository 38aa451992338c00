"""The long proofs of serving, in their short forms."""

import pathlib
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "arguments"),
    [("fuzz_requests", ["--quick", "--requests", "600"]), ("soak_serving", ["--quick", "--requests", "1500"])],
)
def test_short_forms(script, arguments):
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
