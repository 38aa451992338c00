"""`saved_model_cli run`: call a signature of a SavedModel with inputs of the command line, and show what it returns."""

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.cli.saved_model.models import CommandError, Model, signature_of, tags_of
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats import files
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.op.convert import to_tensor
from headrace._src.ops.debugging.dumping import disable_dump_debug_info, enable_dump_debug_info
from headrace._src.saved_model.load_options import LoadOptions
from headrace._src.saved_model.loading import load

_INIT = "__saved_model_init_op"


def run(
    folder: str, tags: str, key: str, inputs: dict[str, Any], *,
    outdir: str | None = None, overwrite: bool = False, debug: bool = False, allow_file_access: bool = False,
) -> Iterator[str]:  # fmt: skip
    """The lines of the answer.

    Args:
        folder: of the SavedModel.
        tags: of the graph, separated by commas.
        key: of the signature.
        inputs: values by the keys of the signature.
        outdir: where each result is saved as an .npy file; None for nowhere.
        overwrite: whether files that are there already are replaced.
        debug: whether all tensors that are computed are dumped.
        allow_file_access: whether operations of the model may touch files outside of its folder.

    Raises:
        CommandError: there is no such graph or signature, inputs do not fit, or a file is there already.
    """
    model = Model(folder)
    signature = signature_of(model.graph(tags), key)
    if key == _INIT:
        raise CommandError(f"{key} is what loading a SavedModel runs; it is no signature to call.")
    tensors = _arguments(signature, key, inputs)
    options = LoadOptions(experimental_allow_file_access=allow_file_access)
    function = load(folder, tags_of(tags), options).signatures[key]
    with contextlib.ExitStack() as stack:
        if debug:
            dump = stack.enter_context(_dumping(outdir))
            yield f"Tensors and graphs are dumped to {dump}: look at them with `headrace tensorboard --logdir {dump}`."
        results = function(**tensors)
    if outdir is not None:
        files.make_directories(outdir)
    for name in sorted(results):
        value = results[name].numpy()
        yield f"Result for output key {name}:\n{value}"
        if outdir is not None:
            yield f"Output {name} is saved to {_saved(outdir, name, value, overwrite)}"


@contextlib.contextmanager
def _dumping(outdir):
    folder = tempfile.mkdtemp(prefix="tfdbg_") if outdir is None else files.join(outdir, "tfdbg")
    enable_dump_debug_info(folder, tensor_debug_mode="FULL_TENSOR")
    try:
        yield folder
    finally:
        disable_dump_debug_info()


def _arguments(signature, key, inputs) -> dict[str, EagerTensor]:
    there = ", ".join(f'"{name}"' for name in sorted(signature.inputs))
    for name in inputs:
        if name not in signature.inputs:
            raise CommandError(
                f'"{name}" is not a valid input key. Please choose from {there or "none: it takes no inputs"}, or use '
                "--show option."
            )
    missing = sorted(set(signature.inputs) - set(inputs))
    if missing and not inputs:
        raise CommandError(
            "At least one of --inputs, --input_exprs or --input_examples must be required: the signature "
            f'"{key}" takes {there}.'
        )
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise CommandError(f'The signature "{key}" takes {there}; there is no value for {names}.')
    return {name: _tensor(name, value, signature.inputs[name]) for name, value in inputs.items()}


def _tensor(name, value, info):
    """A value as a tensor of the signature's dtype and shape."""
    if not info.name:
        raise CommandError(
            f'The input "{name}" is a composite tensor: several tensors with names of their own. Only dense ones can '
            "be given in a command line; load the model in Python for others."
        )
    dtype = dtypes.as_dtype(info.dtype)
    shape = TensorShape(proto_to_shape(info.tensor_shape))
    try:
        array = np.asarray(value, object if dtype is dtypes.string else dtype.as_numpy_dtype)
    except OverflowError:
        raise CommandError(
            f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
            f'{dtype.as_numpy_dtype} of the input "{name}": it is too large for it.'
        ) from None
    except (TypeError, ValueError) as error:
        raise CommandError(f'The input "{name}" cannot be made a tensor of {dtype.name}: {error}') from None
    if not shape.is_compatible_with(array.shape):
        known = "unknown" if shape.rank is None else tuple(shape.as_list())
        raise CommandError(
            f"Cannot feed value of shape {array.shape} for Tensor {info.name}, which has shape {known} "
            f'(the input "{name}").'
        )
    return to_tensor(array, dtype)


def _saved(outdir, name, value, overwrite):
    path = files.join(outdir, f"{name.replace('/', '_')}.npy")  # a key of the model must not lead out of the folder
    if files.exists(path) and not overwrite:
        raise CommandError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.'
        )
    contents = io.BytesIO()
    np.save(contents, value)
    files.write(path, contents.getvalue())
    return path
