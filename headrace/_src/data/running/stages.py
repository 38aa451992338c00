"""What a pipeline is made of: stages, and the cursors that walk through their elements.

A dataset is a variant tensor that holds a stage; the ops `MapDataset`, `BatchDatasetV2` ... make stages out of
stages. Iterating makes a cursor from each stage, the last one pulling from the one before it.

An element is a tuple of NumPy arrays, one for each component. A block is several elements at once: a tuple of arrays
with one more dimension in front. A stage that can compute its n-th element directly says so by its `access`, and then
needs no cursor of its own: slicing, shuffling, batching and resuming are arithmetic on indices.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, file_access
from headrace._src.core.context import context
from headrace._src.core.random_state import Site, random_state
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor

INFINITE, UNKNOWN = -1, -2

Element = tuple  # of arrays


class Run:
    """What the cursors of one walk share.

    Args:
        options: the `tf.data.Options` of the dataset that is walked through.
    """

    def __init__(self, options=None):
        self.options = options
        self.stopped = threading.Event()  # set when the walk is given up: threads then end
        self.one_by_one = False  # whether each element must be made on its own, so that only those that fail are lost
        self.site = Site(random_state.epoch)  # where the streams of random numbers are

    def call(self, function, *args):
        """Call what walks through a pipeline: random numbers are then those of this walk."""
        before, context.random_site = context.random_site, self.site
        try:
            return context.run_quietly(function, *args)
        finally:
            context.random_site = before


class Access:
    """Elements by number. Subclasses give `size`, and `get` or `gather`."""

    size: int

    def get(self, index: int) -> Element:
        """One element."""
        return tuple([part[0, ...] for part in self.gather(np.array([index]))])

    def gather(self, indices: np.ndarray) -> tuple:
        """The block of these elements."""
        return stacked([self.get(int(i)) for i in indices])

    def slice(self, start: int, stop: int) -> tuple:
        """The block of the elements from `start` up to `stop`."""
        return self.gather(np.arange(start, stop))

    def columns(self, start: int, stop: int) -> tuple | None:
        """The block of these elements, some of its parts as `RaggedColumn`; None where elements come one by one."""
        return None


class Stage:
    """One step of a pipeline.

    Stages do not look at each other's classes. What they ask of each other is declared here: by default a stage has
    none of it, and a subclass says what it has.

    Args:
        shapes: the `TensorShape` of each component.
        inputs: the stages that it pulls from.
    """

    method = "Dataset"  # what the user called, for messages
    functions: Sequence = ()  # the user's functions that it calls, each an `ElementFunction`
    seeds: Any = None  # the `Seeds` from which each walk draws its own
    batch_size: int | None = None  # how many elements of its input make one of its elements, the last one apart
    stacks = False  # whether its elements are blocks of its input; it then has `source`, `size` and `drops`
    passes_on = False  # whether its elements are elements of its inputs
    writes_files = False  # whether a walk writes files, which two walks cannot do at once
    is_in_memory = False  # whether its elements are parts of arrays that are there anyway
    # TF: whether errors of its function begin with a sentence that tests of other packages look for.
    tells_of_function = False
    # TF: the method that is done together with this one when it comes right after it.
    fuses_with = ""

    def __init__(self, shapes: Sequence[TensorShape], inputs: Sequence[Stage] = ()):
        self.shapes = list(shapes)
        self.inputs = tuple(inputs)
        self.location: tuple = ()  # file, line and function of the user's call
        self.file_policy = file_access.policy_here()  # which files it may open, when a loaded model made it
        self.recipe: tuple = ()  # the op that made it, with its inputs and attributes

    def cardinality(self) -> int:
        """The number of elements, or INFINITE or UNKNOWN."""
        return UNKNOWN

    @property
    def access(self) -> Access | None:
        """Elements by number, where that costs no more than walking through them."""
        return None

    @property
    def has_blocks(self) -> bool:
        """Whether cursors give blocks faster than elements."""
        return self.access is not None

    @property
    def has_columns(self) -> bool:
        """Whether cursors have `columns(count)`: blocks, of which some parts may be `RaggedColumn`."""
        return False

    @property
    def has_spans(self) -> bool:
        """Whether cursors have `spans(multiple, size)`: records where they stand in files."""
        return False

    @property
    def reads_ahead(self) -> bool:
        """Whether more elements may be read than were asked for: it takes no time to speak of, and nobody notices."""
        return False

    def picked(self) -> Stage:
        """The same step where elements are asked for by number alone: a shuffle before it then has one fixed order."""
        inputs = {id(stage): stage.picked() for stage in self.inputs}
        if all(inputs[id(stage)] is stage for stage in self.inputs):
            return self
        twin = copy.copy(self)
        vars(twin).update({name: inputs[id(value)] for name, value in vars(self).items() if id(value) in inputs})
        twin.inputs = tuple(inputs[id(stage)] for stage in self.inputs)
        return twin

    def cursor(self, run: Run) -> Cursor:
        """A new walk through the elements."""
        cursor: Any
        access = self.access
        if access is not None and not (run.one_by_one and self.inputs):
            cursor = AccessCursor(access)  # no walk is needed: to skip, to save and to resume is then arithmetic
        else:
            cursor = self.walk(run)
        return cursor if self.file_policy is None else _GuardedCursor(cursor, self.file_policy, self.method)

    def walk(self, run: Run) -> Cursor:
        """A new walk, for stages (or inputs) without access by number.

        A stage with one cursor makes it; where the choice depends on the chain, `cursor_choice` has a table for it.
        """
        raise NotImplementedError(type(self).__name__)

    @property
    def options(self):
        """The options that were set in this pipeline, later ones in place of earlier; None when there are none."""
        merged: Any = None
        for stage in self.inputs:
            found = stage.options
            if found is not None:
                merged = found if merged is None else merged.merge(found)
        return merged

    def failed(self, index: int | None, error: Exception, element: tuple | None = None):
        """Raise the error of an element, with its number, the user's line, and what names it: short strings in it.

        Without a number where the message has another one, such as that of a record in a file.
        """
        if not isinstance(error, errors.OpError):
            raise error
        which = "" if index is None else f": element {index}{_names_in(element or ())}"
        told = self.tells_of_function and self.recipe
        begin = f"Error in user-defined function passed to {self.recipe[0]} transformation: " if told else ""
        message = f"{begin}{error.message}\n\t[{self.where()}{which}]"
        raise errors.with_message(error, message) from error.__cause__

    def locate(self, location: tuple) -> None:
        """Say where the user's code is that made this stage, and those before it, unless that is known."""
        if not self.location:
            self.location = location
            for stage in self.inputs:
                stage.locate(location)

    def where(self) -> str:
        """The stage as error messages name it: the method and the user's line."""
        if not self.location or not self.location[0]:
            return self.method
        return f"{self.method} ({self.location[0]}:{self.location[1]})"

    def __repr__(self):
        return f"<{type(self).__name__} of {len(self.shapes)} components>"


class _GuardedCursor:
    """A cursor of a loaded model's pipeline: whatever it does, it opens only files that the model may touch."""

    def __init__(self, cursor, policy, method):
        self._cursor = cursor
        self._policy = policy
        self._method = method

    def __getattr__(self, name):
        value = getattr(self._cursor, name)
        return self._policy.guarding(self._method, value) if callable(value) else value


class Cursor:
    """A walk through the elements of a stage. It belongs to one thread at a time."""

    def next(self) -> Element | None:
        """The next element; None when there is none left."""
        raise NotImplementedError(type(self).__name__)

    def block(self, count: int) -> tuple | None:
        """Between one and `count` elements as a block; None when there is none left."""
        element = self.next()
        return None if element is None else tuple([part[None] for part in element])

    def columns(self, count: int) -> tuple | None:
        """The same as `block`, some of its parts as `RaggedColumn`: of stages that have columns."""
        raise NotImplementedError(type(self).__name__)

    def stack_by(self, size: int) -> None:
        """So many elements each will be stacked: a cursor that can makes them in one array from the beginning."""

    def skip(self, count: int) -> int:
        """Pass over so many elements.

        Returns:
            How many there were.
        """
        for done in range(count):
            if self.next() is None:
                return done
        return count

    def state(self) -> dict:
        """All that `restore` needs to go on from here: numbers, strings, bytes, arrays, and lists and dicts of them."""
        raise errors.UnimplementedError(
            None, None, f"{type(self).__name__}: the position in this dataset cannot be saved."
        )

    def restore(self, state: dict):
        """Go on from where `state` was taken."""
        raise errors.UnimplementedError(
            None, None, f"{type(self).__name__}: the position in this dataset cannot be restored."
        )

    def close(self):
        """End threads and close files; no element is asked for any more."""


_LONGEST_NAME = 256


def _names_in(element) -> str:
    """The scalar strings of an element that a message can show, such as the path of a file."""
    strings = [part.item() for part in element if part.ndim == 0 and part.dtype == object]
    texts = [x.decode("utf-8", "replace") for x in strings if isinstance(x, bytes) and 0 < len(x) <= _LONGEST_NAME]
    texts = [text for text in texts if text.isprintable()]
    return f", {', '.join(map(repr, texts))}" if texts else ""


class AccessCursor(Cursor):
    """A walk by number."""

    def __init__(self, access: Access):
        self._access = access
        self._size = access.size
        self._at = 0

    def next(self):
        at = self._at
        if at >= self._size:
            return None
        self._at = at + 1  # also when it fails: `ignore_errors` goes on with the one after it
        return self._access.get(at)

    def block(self, count):
        return self._read(count, self._access.slice)

    def columns(self, count):
        return self._read(count, self._access.columns)

    def _read(self, count, read):
        at = self._at
        stop = min(at + count, self._size)
        if stop <= at:
            return None
        block = read(at, stop)
        if block is None:  # which would be taken for the end
            raise NotImplementedError(f"{type(self._access).__name__} has no columns.")
        self._at = stop
        return block

    def skip(self, count):
        before, self._at = self._at, min(self._at + count, self._size)
        return self._at - before

    def state(self):
        return {"at": self._at}

    def restore(self, state):
        self._at = state["at"]


# Variants.


def variant_of(stage: Stage) -> np.ndarray:
    """The value of a dataset tensor."""
    box = np.empty((), object)
    box[()] = stage
    return box


def dataset_tensor(stage: Stage) -> EagerTensor:
    """A dataset tensor."""
    return EagerTensor(variant_of(stage), dtypes.variant)


def stage_of(variant: np.ndarray) -> Stage:
    """The stage in the value of a dataset tensor.

    Raises:
        InvalidArgumentError: there is none.
    """
    stage = variant[()] if variant.ndim == 0 else None
    if not isinstance(stage, Stage):
        raise errors.invalid_argument(
            f"Expected a scalar variant tensor that holds a dataset, got {type(stage).__name__} of shape "
            f"{variant.shape}."
        )
    return stage


# Blocks.


def stacked(elements: list) -> tuple:
    """Elements as a block.

    Raises:
        InvalidArgumentError: they differ in shape.
    """
    return tuple([_stack(number, parts) for number, parts in enumerate(zip(*elements))])


def _different_shapes(component, first, number, other):
    return errors.invalid_argument(
        f"Cannot batch tensors with different shapes in component {component}. First element had shape {list(first)} "
        f"and element {number} had shape {list(other)}. padded_batch fills them up, ragged_batch does not."
    )


def _stack(number, parts):
    first = parts[0]
    shape, dtype = first.shape, first.dtype
    for i, part in enumerate(parts):
        if part.shape != shape:
            raise _different_shapes(number, shape, i, part.shape)
    if not shape:
        if dtype == object:
            block = np.empty(len(parts), object)
            for i, part in enumerate(parts):
                block[i] = part[()]
            return block
        return np.array([part[()] for part in parts], dtype)
    block = np.empty((len(parts), *shape), dtype)
    for i, part in enumerate(parts):
        block[i] = part
    return block


def joined(blocks: list) -> tuple:
    """Blocks one after another as one block."""
    return blocks[0] if len(blocks) == 1 else tuple([_join(n, parts) for n, parts in enumerate(zip(*blocks))])


def _join(number, parts):
    shape = parts[0].shape[1:]
    before = parts[0].shape[0]
    for part in parts[1:]:
        if part.shape[1:] != shape:
            raise _different_shapes(number, shape, before, part.shape[1:])
        before += part.shape[0]
    return np.concatenate(parts)


def split(block: tuple) -> list:
    """The elements of a block."""
    return [tuple([part[i, ...] for part in block]) for i in range(block[0].shape[0])]


def flat_attrs(specs) -> dict:
    """The attributes `output_types` and `output_shapes` of dataset ops, from the specs of components."""
    return {
        "output_types": [spec.dtype for spec in specs],
        "output_shapes": [_shape_attr(spec.shape) for spec in specs],
    }


def _shape_attr(shape: TensorShape) -> Any:
    return None if shape.rank is None else tuple(shape.as_list())


def shapes_of(output_shapes) -> list[TensorShape]:
    """The attribute `output_shapes` as shapes."""
    return [TensorShape(shape) for shape in output_shapes]
