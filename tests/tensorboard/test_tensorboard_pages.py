"""What a program writes for TensorBoard can be read back: `scripts/tensorboard_pages` without a browser."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.slow
def test_the_log_folder_has_everything():
    command = [sys.executable, str(ROOT / "scripts" / "tensorboard_pages"), "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "all there" in result.stdout


def test_the_last_look_at_the_pages_found_all_of_them():
    lines = (ROOT / "tests" / "tensorboard" / "last_result.txt").read_text().splitlines()
    pages = [line for line in lines if ": " in line]
    assert len(pages) >= 18
    assert all(line.endswith(": shown") for line in pages)
