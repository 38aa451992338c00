"""`headrace show`: what is in the file of a model for TensorFlow Lite."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule

_analyzer = LazyModule("headrace._src.lite.analyzer")


def main(arguments: Sequence[str]) -> int:
    """Carry the command out. Returns 1 where it cannot be."""
    parser = argparse.ArgumentParser(prog="headrace show", description="Show what is in a model.")
    parser.add_argument("model", help="a .tflite file")
    parser.add_argument("--gpu", action="store_true", help="also say what a GPU may not run")
    options = parser.parse_args(arguments)
    try:
        _analyzer.ModelAnalyzer.analyze(model_path=options.model, gpu_compatibility=options.gpu)
    except (errors.OpError, OSError) as error:
        sys.stderr.write(f"headrace show: {getattr(error, 'message', error)}\n")
        return 1
    return 0
