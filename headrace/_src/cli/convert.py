"""`headrace convert`: models as files of other runtimes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule

_js = LazyModule("headrace._src.js.saving")
_files = LazyModule("headrace._src.formats.files")
_functions = LazyModule("headrace._src.saved_model.functions_of_models")
_lite = LazyModule("headrace._src.lite.converter")


def _parser():
    parser = argparse.ArgumentParser(prog="headrace convert", description="Write a model for another runtime.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    js = kinds.add_parser("js", help="TensorFlow.js: a graph model, for pages and Node")
    js.add_argument("model", help="a SavedModel, .keras or .h5 file")
    js.add_argument("output", help="the folder to write")
    js.add_argument("--signature", default="serving_default", help="which signature of the model [%(default)s]")
    js.add_argument("--quantize", choices=["float16", "uint8", "uint16"], help="how numbers of weights are kept")
    lite = kinds.add_parser("lite", help="TensorFlow Lite: a file for phones and small machines")
    lite.add_argument("model", help="a SavedModel, .keras or .h5 file")
    lite.add_argument("output", help="the .tflite file to write")
    lite.add_argument("--signature", default="serving_default", help="which signature of the model [%(default)s]")
    lite.add_argument("--quantize", choices=["weights", "float16"], help="weights of 8 bits, or of 16")
    return parser


def _convert_lite(options):
    with _functions.concrete_function_of(options.model, options.signature) as concrete:
        converter = _lite.TFLiteConverter(lambda: {options.signature: concrete})
        if options.quantize:
            converter.optimizations = [_lite.Optimize.DEFAULT]
            converter.target_spec.supported_types = ["float16"] if options.quantize == "float16" else []
        _files.write(options.output, converter.convert())


def main(arguments: Sequence[str]) -> int:
    """Carry the command out. Returns 1 where it cannot be."""
    options = _parser().parse_args(arguments)
    try:
        if options.kind == "lite":
            _convert_lite(options)
        else:
            _js.save(options.model, options.output, options.signature, options.quantize)
    except (errors.OpError, OSError, ValueError) as error:
        sys.stderr.write(f"headrace convert: {getattr(error, 'message', error)}\n")
        return 1
    return 0
