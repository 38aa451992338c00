"""The commands of `headrace` and `python -m headrace`."""

import argparse
import os
import runpy
import sys

from headrace._src.cli.doctor import doctor
from headrace._src.compat.tensorflow_alias import install
from headrace._src.version import HEADRACE_VERSION


def run(script, arguments, is_module=False):
    """Run a Python script (or module) in which `import tensorflow` means headrace."""
    if is_module:
        install()
        sys.argv = [script, *arguments]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(script, run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(script):
        raise SystemExit(f"headrace run: there is no file {script!r}.")
    install()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")


def main(argv=None):
    """The entry point."""
    parser = argparse.ArgumentParser(prog="headrace", description="TensorFlow 2's programming model, light and fast.")
    parser.add_argument("--version", action="version", version=f"headrace {HEADRACE_VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="run a script in which `import tensorflow` means headrace")
    runner.add_argument("-m", action="store_true", dest="is_module", help="run a module, as `python -m` does")
    runner.add_argument("script")
    runner.add_argument("arguments", nargs=argparse.REMAINDER)
    commands.add_parser("doctor", help="say what is installed, whether the fast paths are on, and what to do if not")
    options = parser.parse_args(argv)
    if options.command == "doctor":
        raise SystemExit(doctor())
    run(options.script, options.arguments, options.is_module)
