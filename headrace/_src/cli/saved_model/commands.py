"""`headrace saved-model` and `saved_model_cli`: looking at SavedModels, and calling them, from the command line."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence

from headrace._src.cli.saved_model import advice
from headrace._src.cli.saved_model.freezing import freeze
from headrace._src.cli.saved_model.inputs import values_of
from headrace._src.cli.saved_model.models import CommandError
from headrace._src.cli.saved_model.options import Options
from headrace._src.cli.saved_model.running import run
from headrace._src.cli.saved_model.scanning import scan
from headrace._src.cli.saved_model.showing import show
from headrace._src.core import errors
from headrace._src.version import HEADRACE_VERSION

_HINT = " In this command line: --allow_file_access."


def _parser(prog):
    parser = argparse.ArgumentParser(prog=prog, description="Look at SavedModels, and call them.")
    parser.add_argument("-v", "--version", action="version", version=f"headrace {HEADRACE_VERSION}")
    commands = Options(parser.add_subparsers(dest="command", required=True, metavar="command"))

    command = commands.add("show", _show, "show tags, signatures, ops and functions of a SavedModel")
    command.text("dir", "folder of the SavedModel", required=True)
    command.switch("all", "show everything")
    command.text("tag_set", "the tags of a graph, separated by commas: show the keys of its signatures")
    command.text("signature_def", "the key of a signature: show what it takes and returns")
    command.switch("list_ops", "show also the ops that the graph uses")

    command = commands.add("run", _run, "call a signature of a SavedModel, and show what it returns")
    command.text("dir", "folder of the SavedModel", required=True)
    command.text("tag_set", "the tags of the graph, separated by commas", required=True)
    command.text("signature_def", "the key of the signature", required=True)
    command.text("inputs", "files with inputs: <key>=<file> or <key>=<file>[<name>], separated by ';'. The files are "
                 ".npy, .npz or pickles of arrays", default="")  # fmt: skip
    command.text("input_exprs", "inputs as Python literals or calls such as np.ones((2, 3)): <key>=<expression>, "
                 "separated by ';'", default="")  # fmt: skip
    command.text("input_examples", "inputs as tf.train.Example messages: <key>=[{'feature': [1, 2], ...}, ...], "
                 "separated by ';'", default="")  # fmt: skip
    command.text("outdir", "folder in which each result is saved as <key>.npy")
    command.switch("overwrite", "replace files that are there already")
    command.switch("tf_debug", "dump all tensors that are computed, for TensorBoard's Debugger V2")
    command.switch("allow_file_access", "let operations of the model touch files outside of its folder")
    command.text("worker", "not possible here: run the command on that machine")
    command.switch("init_tpu", "not possible here: there are no TPUs")
    command.switch("use_tfrt", "accepted; nothing changes")

    command = commands.add("scan", _scan, "look for ops that one would rather not run")
    command.text("dir", "folder of the SavedModel", required=True)
    command.text("tag_set", "the tags of the graph, separated by commas; all graphs without it")
    command.text("op_denylist", "the ops, separated by commas; WriteFile, ReadFile and PrintV2 without it")

    command = commands.add("freeze_model", _freeze, "write a graph with constants in the place of variables")
    _compiler_options(command)

    command = commands.add("convert", _convert, "not possible here; says what to use instead")
    command.text("dir", "folder of the SavedModel")
    command.text("output_dir", "folder of the result")
    command.text("tag_set", "the tags of the graph")
    command.parser.add_argument("method", nargs="?", choices=["tensorrt"], help="the conversion")
    for name in ("max_workspace_size_bytes", "precision_mode", "minimum_segment_size"):
        command.text(name, "for TensorRT")
    command.switch("convert_tf1_model", "for TensorRT")

    command = commands.add("aot_compile_cpu", _compile, "not possible here; says what to use instead")
    _compiler_options(command, required=False)
    for name in ("target_triple", "target_cpu", "cpp_class", "multithreading"):
        command.text(name, "for TensorFlow's compiler")
    return parser


def _compiler_options(command, required=True):
    command.text("dir", "folder of the SavedModel", required=required)
    command.text("tag_set", "the tags of the graph, separated by commas", required=required)
    command.text("output_prefix", "folder of the result", required=required)
    command.text("signature_def_key", "the key of the signature", default="serving_default")
    command.text("checkpoint_path", "a checkpoint with values of the variables, instead of the SavedModel's own")
    command.text("variables_to_feed", "variables that stay variables: '' for none, 'all', or names separated by commas",
                 default="")  # fmt: skip


def _show(options):
    return show(options.dir, options.tag_set, options.signature_def, options.all, options.list_ops)


def _run(options):
    for name in ("worker", "init_tpu"):
        if getattr(options, name):
            raise CommandError(f"--{name} is not possible here: models run in the process of this command.")
    inputs = values_of(options.inputs, options.input_exprs, options.input_examples)
    return run(
        options.dir, options.tag_set, options.signature_def, inputs,
        outdir=options.outdir, overwrite=options.overwrite, debug=options.tf_debug,
        allow_file_access=options.allow_file_access,
    )  # fmt: skip


def _scan(options):
    return scan(options.dir, options.tag_set, options.op_denylist)


def _freeze(options):
    return freeze(
        options.dir, options.tag_set, options.signature_def_key, options.output_prefix,
        checkpoint=options.checkpoint_path, variables=options.variables_to_feed,
    )  # fmt: skip


def _convert(options):
    raise CommandError(advice.CONVERT)


def _compile(options):
    raise CommandError(advice.AOT_COMPILE)


def main(argv: Sequence[str] | None = None, prog: str = "saved_model_cli") -> int:
    """Carry out a command line; returns the exit code: 0, 1 if the command failed, 2 if it was not understood."""
    argv = sys.argv[1:] if argv is None else argv
    options = _parser(prog).parse_args(argv)
    try:
        _write(options.carry_out(options))
    except BrokenPipeError:
        # The reader has seen enough. What is still buffered would raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CommandError, errors.OpError, OSError, ValueError) as error:
        hint = _HINT if isinstance(error, errors.PermissionDeniedError) else ""
        sys.stderr.write(f"{prog} {options.command}: {error}{hint}\n")
        return 1
    return 0


def _write(lines: Iterable[str]):
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
