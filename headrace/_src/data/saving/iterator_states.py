"""Where an iterator has got to, as a tensor: what checkpoints save of iterators."""

from __future__ import annotations

import base64
import json
import logging
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.data.running import state_checks
from headrace._src.data.running.stages import Stage, variant_of
from headrace._src.data.saving import foreign_positions
from headrace._src.data.saving.element_bytes import packed, unpacked
from headrace._src.data.saving.position_counts import continuation
from headrace._src.data.saving.position_entries import DIVIDER, TYPE, Entries, NotForTensorFlow
from headrace._src.data.saving.position_writing import positions
from headrace._src.data.transformations.windows import ElementsStage
from headrace._src.formats.encoded_variants import decode_variant, variant_tensors
from headrace._src.formats.tensor_wire import parse_tensor
from headrace._src.op.definition import Op

logger = logging.getLogger("headrace")
_TYPE = "headrace::IteratorState"  # of files of earlier versions
# The names under which the state of our own cursors stands among those of TensorFlow's iterators, which do not mind.
_OWNER, _KEY, _REASON = "headrace", "state", "not for TensorFlow"
_LENGTH = 8  # bytes of the number of bytes of the text, in front of it
# What states that do not belong to a pipeline, or are damaged, make cursors raise.
_UNFIT = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def encoded(state: dict, stage: Stage) -> bytes:
    """A state of an iterator over a pipeline, as bytes: a text with the numbers of arrays in it, then the arrays."""
    arrays: list[np.ndarray] = []
    text = json.dumps({"pipeline": steps_of(stage), "state": _plain(state, arrays)}).encode()
    return len(text).to_bytes(_LENGTH, "little") + text + packed(tuple(arrays))


def decoded(data: bytes) -> tuple[str, dict]:
    """The steps of the pipeline, and the state.

    Raises:
        ValueError: these are no such bytes.
    """
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    if len(data) < end:
        raise ValueError("the state of an iterator is cut off")
    try:
        content = json.loads(data[_LENGTH:end])
        arrays = unpacked(memoryview(data)[end:])
        return content["pipeline"], _restored(content["state"], arrays)
    except (*_UNFIT, errors.OpError) as error:
        raise ValueError(f"the state of an iterator is damaged: {error}") from error


def _plain(value: Any, arrays: list) -> Any:
    """A value as JSON has it: a pair of a letter and contents for what JSON does not know."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.generic)) and value.ndim == 0 and value.dtype.kind in "biuf":
        return ["n", value.dtype.str, value.item()]
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return ["b", base64.b64encode(value).decode()]
    if isinstance(value, np.ndarray):
        if value.dtype == object and not value.ndim and isinstance(value[()], ElementsStage):
            return ["w", *_plain_window(value[()], arrays)]
        arrays.append(value)
        return ["a", len(arrays) - 1]
    if isinstance(value, dict):
        return ["d", [[_plain(key, arrays), _plain(item, arrays)] for key, item in value.items()]]
    if isinstance(value, (list, tuple)):
        letter = "l" if isinstance(value, list) else "t"
        return [letter, [_plain(item, arrays) for item in value]]
    raise errors.UnimplementedError(
        None, None, f"The state of this iterator has a {type(value).__name__}, which cannot be saved."
    )


def _plain_window(stage, arrays):
    """A window: the shapes of components, and the elements."""
    shapes = [None if shape.rank is None else shape.as_list() for shape in stage.shapes]
    elements = [stage.access.get(i) for i in range(stage.access.size)]
    return _plain(shapes, arrays), _plain(elements, arrays)


def _restored(value: Any, arrays: tuple) -> Any:
    if not isinstance(value, list):
        return value
    letter, content = value[0], value[1]
    if letter == "w":
        shapes = [TensorShape(shape) for shape in _restored(content, arrays)]
        return variant_of(ElementsStage(shapes, _restored(value[2], arrays)))
    if letter == "n":
        return np.dtype(content).type(value[2])
    if letter == "b":
        return base64.b64decode(content, validate=True)
    if letter == "a":
        return arrays[content]
    if letter == "d":
        return {_restored(key, arrays): _restored(item, arrays) for key, item in content}
    items = [_restored(item, arrays) for item in content]
    return items if letter == "l" else tuple(items)


def steps_of(stage: Stage) -> str:
    """The steps of a pipeline in words, so that a state is not restored into another one."""
    inputs = ", ".join(steps_of(each) for each in stage.inputs)
    return f"{stage.method}({inputs})" if inputs else stage.method


# Ops.


def _serialize(resource_handle, external_state_policy):
    resource = resource_handle[()]
    state = resource.state()
    own = Entries()
    own.put(_OWNER, _KEY, encoded(state, resource.stage))
    try:
        variants = positions(state, resource.stage).variants()
    except Exception as error:
        # Functions of the user may fail on elements that wait: the position is saved all the same. TensorFlow then
        # finds nothing under the names of its iterators, and says so.
        reason = str(error) if isinstance(error, NotForTensorFlow) else f"{type(error).__name__}: {error}"
        logger.debug("the position of an iterator is not for TensorFlow: %s", reason)
        own.put(_OWNER, _REASON, reason.encode())
        variants = []
    array = np.empty(1 + len(variants), object)
    array[:] = own.variants() + variants
    return array


SERIALIZE_ITERATOR = Op(
    "SerializeIterator",
    "resource_handle: resource, *, external_state_policy: int = 0 -> serialized: variant",
    infer=lambda resource_handle, external_state_policy: TensorShape([None]),
    kernel=_serialize,
    lower=None,  # iterators are the host's
    grad=None,
    stateful=True,
    quiet=False,
)


def _deserialize(resource_handle, serialized):
    resource = resource_handle[()]
    try:
        name, data = decode_variant(serialized.ravel()[0])
    except (ValueError, IndexError, TypeError) as error:
        raise errors.data_loss(f"The state of an iterator cannot be read: {error}.") from None
    if name == TYPE:
        try:
            data = _own_state(serialized.ravel())
        except (*_UNFIT, errors.OpError) as error:
            raise errors.data_loss(f"The position of an iterator is damaged: {error}.") from None
        if data is None:
            _go_to_foreign(resource, serialized.ravel())
            return
    elif name != _TYPE:
        raise errors.UnimplementedError(
            None, None,
            f"The position of an iterator was saved as {name!r}, by another program than headrace: only that one can "
            "go on from it. Begin the dataset anew, and leave the iterator out of the checkpoint that you restore.",
        )  # fmt: skip
    try:
        pipeline, state = decoded(data)
    except ValueError as error:
        raise errors.data_loss(f"{error}.") from None
    if resource.stage is not None and pipeline != steps_of(resource.stage):
        raise errors.invalid_argument(
            f"The position of an iterator over {pipeline} cannot be restored into one over {steps_of(resource.stage)}: "
            "make the dataset of the same steps."
        )
    if name == _TYPE and state_checks.CHECKSUM not in state and resource.stage is not None:
        # Of an earlier version. The file has checksums of its own, and the steps of the pipeline were compared.
        state = state_checks.sealed(state, resource.stage)
    try:
        resource.restore(state)
    except _UNFIT as error:
        raise errors.invalid_argument(
            f"The position of an iterator over {pipeline} does not fit this dataset: {type(error).__name__}: {error}."
        ) from error


def _own_state(elements) -> bytes | None:
    """The state of our own cursors among those of TensorFlow's iterators.

    Raises:
        ValueError: it is damaged.
    """
    start = f"{_OWNER}{DIVIDER}{_KEY}".encode()
    for element in elements:
        names, tensors = decode_variant(element)[1], variant_tensors(element)
        if names.startswith(start) and tensors:
            state = parse_tensor(tensors[0])[0].item()
            if not isinstance(state, bytes):
                raise ValueError("the state is not a string")
            return state
    return None


def _go_to_foreign(resource, elements):
    """Let an iterator go to where one of TensorFlow stood."""
    try:
        position = foreign_positions.read_positions([(decode_variant(x)[1], variant_tensors(x)) for x in elements])
        waiting, passed = continuation(position, resource.stage)
    except _UNFIT as error:
        raise errors.data_loss(f"The position of an iterator, which TensorFlow saved, is damaged: {error}.") from error
    resource.go_to(passed, waiting)


DESERIALIZE_ITERATOR = Op(
    "DeserializeIterator",
    "resource_handle: resource, serialized: variant -> ",
    infer=lambda resource_handle, serialized: (),
    kernel=_deserialize,
    lower=None,  # iterators are the host's
    grad=None,
    stateful=True,
    quiet=False,
)
