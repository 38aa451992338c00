"""Puts this folder on the path, so that rows can be imported without the package `tests`."""

import os
import pathlib
import sys

# Thousands of tiny programs are compiled once and run once.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
