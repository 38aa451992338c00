"""Puts this folder on the path, so that rows can be imported without the package `tests`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
