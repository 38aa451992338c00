"""`tf.print`: tensors and nested Python values as text, to a stream, a log or a file."""

import logging
import pprint
import sys
from typing import Any

from headrace._src.core import dtypes, errors, file_access, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import one_by_one
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.debugging.tensor_summary import summarize_flat
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.ops.strings.formatting import fill_template
from headrace._src.ops.strings.kernel_arrays import attribute_bytes, attribute_text, scalar_string

_LOG_LEVELS = {"log(info)": logging.INFO, "log(warning)": logging.WARNING, "log(error)": logging.ERROR}
# Other things that name a stream.
_streams: dict = {
    logging.INFO: "log(info)",
    logging.WARNING: "log(warning)",
    logging.ERROR: "log(error)",
    logging.info: "log(info)",
    logging.warning: "log(warning)",
    logging.error: "log(error)",
}


def _write(data: bytes, stream: str):
    if stream in ("stdout", "stderr"):
        file = getattr(sys, stream)
        file.write(data.decode("utf-8", "backslashreplace"))
        file.flush()
    elif stream in _LOG_LEVELS:
        text = data.decode("utf-8", "backslashreplace").removesuffix("\n")
        logging.getLogger("headrace").log(_LOG_LEVELS[stream], "%s", text)
    elif stream.startswith("file://"):
        path = stream.removeprefix("file://")
        file_access.check(path)
        try:
            with open(path, "ab") as file:
                file.write(data)
        except FileNotFoundError:
            raise errors.not_found(f"PrintV2: there is no folder for the file {path!r}.") from None
        except PermissionError:
            raise errors.permission_denied(f"PrintV2: the file {path!r} must not be written.") from None
        except OSError as error:
            raise errors.unknown(f"PrintV2: cannot write the file {path!r}: {error}") from None
    else:
        raise errors.invalid_argument(
            f"PrintV2: output_stream must be 'stdout', 'stderr', 'log(info)', 'log(warning)', 'log(error)' "
            f"or 'file://' and a path, got {stream!r}."
        )


def _print(input, output_stream, end):
    _write(scalar_string("PrintV2", "input", input) + attribute_bytes(end), output_stream)


PRINT_V2 = Op(
    "PrintV2",
    "input: string, *, output_stream: string = 'stderr', end: string = '\\n' -> ",
    infer=lambda input, output_stream, end: (),
    kernel=_print,
    lower=None,  # writes to a stream of the host
    stateful=True,
    quiet=False,
    grad=None,
    vectorize=one_by_one,
)


def _print_and_pass(input, data, message, first_n, summarize):
    if first_n == 0:
        return input
    texts = "".join(summarize_flat(array, summarize) for array in data)
    _write(attribute_bytes(message) + texts.encode() + b"\n", "stderr")
    return input


PRINT = Op(
    "Print",
    "input: T, data: list(U), *, message: string = '', first_n: int = -1, summarize: int = 3 -> output: T",
    infer=lambda input, data, **attrs: input.shape,
    kernel=_print_and_pass,
    lower=None,  # writes to a stream of the host
    stateful=True,
    quiet=False,
    saves=("data_shape",),
    grad=lambda node, dy: (dy, [None] * len(node.data_shape)),
    vectorize=one_by_one,
)


class _Slot:
    """Stands for a tensor while `pprint` lays out the values around it."""

    def __init__(self, placeholder):
        self.placeholder = placeholder

    def __repr__(self):
        return self.placeholder


def _is_tensor(value):
    return isinstance(value, (Tensor, CompositeTensor)) or hasattr(type(value), "__tf_tensor__")


def _free_placeholder(inputs):
    """Something that occurs in none of the strings."""
    placeholder = "%t%"
    while any(placeholder in text for text in inputs):
        placeholder = "%" + placeholder
    return placeholder


def _layout(value, placeholder, tensors):
    """The text of one input with placeholders for its tensors, which are appended to `tensors`."""
    if isinstance(value, str):
        return value

    def leaf(item):
        if not _is_tensor(item):
            return item
        if isinstance(item, RaggedTensor):
            tensors.append(item)
            return _Slot(placeholder)
        if isinstance(item, SparseTensor):
            tensors.extend([item.indices, item.values, item.dense_shape])
            return f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})"
        tensors.append(to_tensor(item))
        return _Slot(placeholder)

    return pprint.pformat(nest.map_structure(leaf, value))


def _stream_name(stream):
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    try:
        named = _streams.get(stream)
    except TypeError:  # unhashable
        named = None
    if named is not None:
        return named
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(
        f"print: output_stream must be sys.stdout, sys.stderr, a logging function or level, or 'file://' and "
        f"a path, got {stream!r}."
    )


@api("print", dispatch=False)
def print_(*inputs, **kwargs) -> Any:
    """Print values, tensors among them, separated by spaces.

    >>> tf.print("tensors:", tf.range(10), {"a": tf.constant(1.5)}, output_stream=sys.stdout)
    tensors: [0 1 2 ... 7 8 9] {'a': 1.5}

    Args:
        *inputs: anything; tensors may be nested in lists, tuples, dicts.
        output_stream: `sys.stderr` (the default), `sys.stdout`, a logging function or level, or "file://" and
            a path, to which the text is appended.
        summarize: how many elements to show at both ends of each axis; 3 if not given, -1 for all.
        sep: stands between the inputs, a space if not given.
        end: stands at the end, a new line if not given.
        name: a name for the operation.

    Raises:
        ValueError: for other keyword arguments or streams.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    separator = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"print: unknown keyword arguments {kwargs}.")
    if not isinstance(end, (str, bytes)):
        raise TypeError(f"print: end must be a string, got {end!r}.")
    stream = _stream_name(stream)
    summarize = 3 if summarize is None else summarize
    if len(inputs) == 1 and _is_tensor(inputs[0]) and not isinstance(inputs[0], CompositeTensor):
        tensor = to_tensor(inputs[0])
        if tensor.dtype == dtypes.string and tensor.shape.rank == 0:
            # A single string is printed as it is, without quotes.
            return PRINT_V2(tensor, output_stream=stream, end=attribute_text(end), name=name)
    placeholder = _free_placeholder([value for value in inputs if isinstance(value, str)])
    tensors: list = []
    template = separator.join([_layout(value, placeholder, tensors) for value in inputs])
    text = fill_template(template, tensors, placeholder, summarize)
    return PRINT_V2(text, output_stream=stream, end=attribute_text(end), name=name)
