"""`headrace js-demo`: a page that runs a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule

_demo = LazyModule("headrace._src.js.demo")


def _parser():
    parser = argparse.ArgumentParser(
        prog="headrace js-demo", description="Write a page that loads a model of TensorFlow.js and runs it."
    )
    parser.add_argument("output", help="the folder to write; the model may be there, from `headrace convert js`")
    parser.add_argument("--model", help="a SavedModel, .keras or .h5 file, which is written there first")
    parser.add_argument("--format", choices=["graph", "layers"], default="graph", help="of --model [%(default)s]")
    parser.add_argument("--modules", help="the folder node_modules in which npm has put @tensorflow/tfjs")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Carry the command out. Returns 1 where it cannot be."""
    options = _parser().parse_args(arguments)
    try:
        _demo.write_demo(options.output, options.model, options.modules, options.format)
    except (errors.OpError, OSError, ValueError) as error:
        sys.stderr.write(f"headrace js-demo: {getattr(error, 'message', error)}\n")
        return 1
    sys.stdout.write(
        f"The page is {options.output}/index.html. Browsers load models from a server: run\n"
        f"    {sys.executable} -m http.server --bind 127.0.0.1 --directory {options.output} 8000\n"
        "and open http://127.0.0.1:8000.\n"
    )
    return 0
