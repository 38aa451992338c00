"""Strings with tensors written into them."""

from headrace._src.core import errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import scalar
from headrace._src.ops.string_arrays import attribute_bytes, attribute_text
from headrace._src.ops.tensor_summary import summarize_array


def _format(inputs, template, placeholder, summarize):
    parts = attribute_bytes(template).split(attribute_bytes(placeholder))
    if len(parts) - 1 != len(inputs):
        raise errors.invalid_argument(
            f"StringFormat: template has {len(parts) - 1} placeholders, but there are {len(inputs)} inputs."
        )
    pieces = [parts[0]]
    for array, part in zip(inputs, parts[1:]):
        pieces += [summarize_array(array, summarize), part]
    return b"".join(pieces)


STRING_FORMAT = Op(
    "StringFormat",
    "inputs: list(T), *, template: string = '%s', placeholder: string = '%s', summarize: int = 3 "
    "-> output: string",
    infer=scalar,
    kernel=_format,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.format")
def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """Write tensors into a template.

    >>> tf.strings.format("values: {}", tf.range(10)).numpy()
    b'values: [0 1 2 ... 7 8 9]'

    Args:
        template: a str with one placeholder per tensor.
        inputs: a tensor or a list of tensors.
        placeholder: what stands for a tensor.
        summarize: how many elements to show at both ends of each axis; -1 for all.
        name: a name for the operation.

    Raises:
        ValueError: when there are not as many placeholders as tensors.
    """
    if isinstance(inputs, Tensor):
        inputs = [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(
            f"strings.format: template has {template.count(placeholder)} placeholders {placeholder!r}, but "
            f"there are {len(inputs)} inputs."
        )
    return STRING_FORMAT(
        list(inputs),
        template=attribute_text(template),
        placeholder=attribute_text(placeholder),
        summarize=summarize,
        name=name,
    )
