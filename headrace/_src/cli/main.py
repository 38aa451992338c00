"""The commands of `headrace` and `python -m headrace`."""

import argparse
import functools
import os
import runpy
import sys

from headrace._src.cli.cache import cache
from headrace._src.cli.doctor import doctor
from headrace._src.cli.tensorboard import tensorboard
from headrace._src.compat.tensorflow_names import child_path
from headrace._src.compat.tensorflow_names.alias import install
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tracebacks import hide_frames
from headrace._src.version import HEADRACE_VERSION

_collectives_command = LazyModule("headrace._src.cli.exchanged_bytes")
_convert_command = LazyModule("headrace._src.cli.convert")
_js_demo_command = LazyModule("headrace._src.cli.js_demo")
_launch_command = LazyModule("headrace._src.cli.launch")
_saved_model_commands = LazyModule("headrace._src.cli.saved_model.commands")
_show_command = LazyModule("headrace._src.cli.show")
_shim_command = LazyModule("headrace._src.cli.shim")
_worker = LazyModule("headrace._src.cli.launched_worker")
_serving_command = LazyModule("headrace._src.serving.command")
_upgrade_command = LazyModule("headrace._src.upgrade.command")


def run(script, arguments, is_module=False, children=True):
    """Run a Python script (or module) in which `import tensorflow` means headrace.

    An error that ends it is printed as Python does, from the script's first frame on; so is an interrupt.
    """
    try:
        _run(script, arguments, is_module, children)
    except KeyboardInterrupt as error:
        hide_frames(error)
        sys.excepthook = functools.partial(_print_error, sys.excepthook, error.__traceback__)
        raise
    except Exception as error:
        hide_frames(error)
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(1) from None


def _print_error(print_error, frames, kind, error, _):
    print_error(kind, error.with_traceback(frames), frames)


def _run(script, arguments, is_module, children):
    if is_module:
        _begin(children)
        sys.argv = [script, *arguments]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(script, run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(script):
        raise SystemExit(f"headrace run: there is no file {script!r}.")
    _begin(children)
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")


def _begin(children):
    install(children)
    if not children:
        child_path.remove_from_environment()


def _saved_model(arguments):
    return _saved_model_commands.main(arguments, prog="headrace saved-model")


def _convert(arguments):
    return _convert_command.main(arguments)


def _js_demo(arguments):
    return _js_demo_command.main(arguments)


def _launch(arguments):
    return _launch_command.main(arguments)


def _show(arguments):
    return _show_command.main(arguments)


def _shim(arguments):
    return _shim_command.main(arguments)


def _collectives(arguments):
    return _collectives_command.main(arguments, run)


def _serve(arguments):
    return _serving_command.main(arguments, prog="headrace serve")


def _upgrade(arguments):
    return _upgrade_command.main(arguments, prog="headrace upgrade")


# Commands that have a parser of their own: their names, what they are for, and what carries them out.
_WITH_OWN_PARSER = {
    "collectives": ("run a script, and say how many bytes its devices and processes exchange", _collectives),
    "convert": ("write a model for TensorFlow Lite or TensorFlow.js (headrace convert lite MODEL FILE)", _convert),
    "js-demo": ("write a page that runs a model of TensorFlow.js (headrace js-demo FOLDER --model MODEL)", _js_demo),
    "launch": ("start a script once for each worker, here (-n 2) or on several machines (--hosts FILE)", _launch),
    "saved-model": ("look at SavedModels, and call them; the same as saved_model_cli", _saved_model),
    "show": ("show the graphs, tensors and signatures of a .tflite file", _show),
    "shim": ("let packages that require TensorFlow install, and plain `python` find headrace; --remove", _shim),
    "serve": ("serve SavedModels over REST and gRPC; flags as tensorflow_model_server", _serve),
    "tensorboard": ("look at a log folder; arguments are TensorBoard's, such as --logdir", tensorboard),
    "upgrade": ("turn programs for TensorFlow 1.x into ones for 2.x; the same as tf_upgrade_v2", _upgrade),
}


def _parser():
    parser = argparse.ArgumentParser(prog="headrace", description="TensorFlow 2's programming model, light and fast.")
    parser.add_argument("--version", action="version", version=f"headrace {HEADRACE_VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="run a script in which `import tensorflow` means headrace")
    runner.add_argument("-m", action="store_true", dest="is_module", help="run a module, as `python -m` does")
    runner.add_argument(
        "--no-children", action="store_false", dest="children",
        help="in Python processes that the script starts, `tensorflow` is what is installed",
    )  # fmt: skip
    runner.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)  # `headrace launch` has started it
    runner.add_argument("script", nargs="?", help="a file, or with -m a module")
    runner.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")
    commands.add_parser("doctor", help="say what is installed, whether the fast paths are on, and what to do if not")
    kept = commands.add_parser("cache", help="show or clear the compiled programs that are kept from run to run")
    kept.add_argument("action", nargs="?", choices=["show", "clear"], default="show")
    for name, (help, _) in _WITH_OWN_PARSER.items():
        commands.add_parser(name, help=help, add_help=False)
    return parser


def main(argv=None):
    """The entry point."""
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in _WITH_OWN_PARSER:
        raise SystemExit(_WITH_OWN_PARSER[argv[0]][1](argv[1:]))
    options = _parser().parse_args(argv)
    if options.command == "doctor":
        raise SystemExit(doctor())
    if options.command == "cache":
        raise SystemExit(cache(options.action))
    if options.script is None:
        raise SystemExit(
            "headrace run: which script? `headrace run train.py --epochs 3` runs train.py with these arguments, and "
            "`import tensorflow` means headrace in it; `headrace run -m package.module` runs a module."
        )
    if options.worker:
        _worker.begin()
    run(options.script, options.arguments, options.is_module, options.children)
