"""`headrace convert`: models as files of other runtimes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule

_js = LazyModule("headrace._src.js.saving")


def _parser():
    parser = argparse.ArgumentParser(prog="headrace convert", description="Write a model for another runtime.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    js = kinds.add_parser("js", help="TensorFlow.js: a graph model, for pages and Node")
    js.add_argument("model", help="a SavedModel, .keras or .h5 file")
    js.add_argument("output", help="the folder to write")
    js.add_argument("--signature", default="serving_default", help="which signature of the model [%(default)s]")
    js.add_argument("--quantize", choices=["float16", "uint8", "uint16"], help="how numbers of weights are kept")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Carry the command out. Returns 1 where it cannot be."""
    options = _parser().parse_args(arguments)
    try:
        _js.save(options.model, options.output, options.signature, options.quantize)
    except (errors.OpError, OSError, ValueError) as error:
        sys.stderr.write(f"headrace convert: {getattr(error, 'message', error)}\n")
        return 1
    return 0
