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
_comparing = LazyModule("headrace._src.lite.comparing")
_samples = LazyModule("headrace._src.lite.samples")


def _parser():
    parser = argparse.ArgumentParser(prog="headrace convert", description="Write a model for another runtime.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    js = kinds.add_parser("js", help="TensorFlow.js: a graph or layers model, for pages and Node")
    js.add_argument("model", help="a SavedModel, .keras or .h5 file")
    js.add_argument("output", help="the folder to write")
    js.add_argument("--signature", default="serving_default", help="which signature of the model [%(default)s]")
    js.add_argument("--quantize", choices=["float16", "uint8", "uint16"], help="how numbers of weights are kept")
    js.add_argument(
        "--format", choices=["graph", "layers"], default="graph",
        help="a graph, which runs; or layers of Keras, which can be trained there as well [%(default)s]",
    )  # fmt: skip
    lite = kinds.add_parser("lite", help="TensorFlow Lite: a file for phones and small machines")
    lite.add_argument("model", help="a SavedModel, .keras or .h5 file")
    lite.add_argument("output", help="the .tflite file to write")
    lite.add_argument("--signature", default="serving_default", help="which signature of the model [%(default)s]")
    lite.add_argument(
        "--quantize", choices=["weights", "float16", "int8", "int16x8"],
        help="weights of 8 bits or of 16; or integers everywhere, of 8 bits or of 16 with weights of 8",
    )  # fmt: skip
    lite.add_argument(
        "--samples", metavar="FILE",
        help="examples of inputs, for integers and --report: an .npy file, or an .npz file with an array for each "
        "input; their first axis is that of examples",
    )  # fmt: skip
    for side in ("input", "output"):
        lite.add_argument(
            f"--{side}-type", choices=["float32", "int8", "uint8", "int16"], default="float32",
            help=f"what a model of integers has as {side} [%(default)s]",
        )  # fmt: skip
    lite.add_argument(
        "--report", action="store_true",
        help="say how much results differ from those with floating-point numbers, for --samples or random inputs",
    )  # fmt: skip
    return parser


def _convert_lite(options):
    with _functions.concrete_function_of(options.model, options.signature) as concrete:
        converter = _lite.TFLiteConverter(lambda: {options.signature: concrete})
        plain = converter.convert() if options.report or options.quantize is None else b""
        samples = _samples.samples_for(concrete, options.samples) if options.samples or options.report else None
        data = plain
        if options.quantize:
            _set_quantization(converter, options, samples)
            data = converter.convert()
        _files.write(options.output, data)
        if options.report:
            rows = _comparing.compare(plain, data, samples)
            sys.stdout.write(_comparing.report_text(rows, (len(plain), len(data))) + "\n")


def _set_quantization(converter, options, samples):
    converter.optimizations = [_lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = ["float16"] if options.quantize == "float16" else []
    converter.inference_input_type, converter.inference_output_type = options.input_type, options.output_type
    if options.quantize in ("int8", "int16x8"):
        if not options.samples:
            raise ValueError("--quantize int8 and int16x8 need --samples: ranges of numbers are known from examples.")
        converter.representative_dataset = lambda: samples
    if options.quantize == "int16x8":
        converter.target_spec.supported_ops = {
            _lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        }


def main(arguments: Sequence[str]) -> int:
    """Carry the command out. Returns 1 where it cannot be."""
    options = _parser().parse_args(arguments)
    try:
        if not _files.exists(options.model):
            raise ValueError(f"there is no file or folder {options.model}.")
        if options.kind == "lite":
            _convert_lite(options)
        else:
            _js.save(options.model, options.output, options.signature, options.quantize, options.format)
    except (errors.OpError, OSError, ValueError, ModuleNotFoundError) as error:
        sys.stderr.write(f"headrace convert: {getattr(error, 'message', error)}\n")
        return 1
    return 0
