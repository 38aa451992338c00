"""Strings with tensors written into them."""

from headrace._src.core import errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import one_by_one
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import scalar
from headrace._src.ops.debugging.ragged_summary import summarize_ragged
from headrace._src.ops.debugging.tensor_summary import summarize_array
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.strings.editing import STRING_JOIN
from headrace._src.ops.strings.kernel_arrays import attribute_bytes, attribute_text


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
    vectorize=one_by_one,
)


def fill_template(template, inputs, placeholder, summarize, name=None):
    """The template with tensors and ragged tensors written in, as a scalar string tensor."""
    if any(isinstance(value, RaggedTensor) for value in inputs):
        pieces = [to_tensor(attribute_bytes(part)) for part in template.split(placeholder)]
        joined = pieces[:1]
        for value, piece in zip(inputs, pieces[1:]):
            if isinstance(value, RaggedTensor):
                joined += [summarize_ragged(value, summarize), piece]
            else:
                joined += [STRING_FORMAT([value], summarize=summarize), piece]
        return STRING_JOIN(joined, name=name)
    return STRING_FORMAT(
        list(inputs),
        template=attribute_text(template),
        placeholder=attribute_text(placeholder),
        summarize=summarize,
        name=name,
    )


@api("strings.format")
def format(template, inputs, placeholder="{}", summarize=3, name=None) -> Tensor:
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
    if isinstance(inputs, (Tensor, RaggedTensor)):
        inputs = [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(
            f"strings.format: template has {template.count(placeholder)} placeholders {placeholder!r}, but "
            f"there are {len(inputs)} inputs."
        )
    summarize = 3 if summarize is None else summarize
    return fill_template(template, inputs, placeholder, summarize, name)
