"""Updates of large variables, block by block: what one operation after another needs stays in a processor's cache.

An optimizer's update of a variable is a chain of element-wise operations, reads and assignments. One by one, each of
them reads and writes whole arrays: Adam moves five times as much memory as it has to. A chain goes through all of its
operations with a block of elements before it begins with the next block. Each element is computed by the same functions
in the same order, so results are the same to the last bit; docs/decisions/0046-threads-of-one-operation.md has figures.

A chain stands before the instructions that it does the work of. They are skipped when it has run, and run when it could
not: when a variable has no value yet, or has it on a device, or when an array does not lie in memory as it should. It
has changed nothing then.
"""

import math
import sys

import numpy as np

from headrace._src.core.large_arrays import BLOCK, empty
from headrace._src.core.parts import in_slices
from headrace._src.graph.passes.steps import kernel_of
from headrace._src.graph.running.layout import CHAIN, LARGE_UPDATE, KernelCall
from headrace._src.graph.running.reuse import EXACT, function_of
from headrace._src.state.storage import ASSIGNMENTS, EXCLUSIVE, READ_VARIABLE, Storage

# Elements of a block, of which each thread takes one after another. Fewer, and threads wait for Python's lock.
_BLOCK = BLOCK
# A chain of fewer operations gains nothing; one of two does for arrays that leave the caches. More are found in pieces.
_FEWEST, _MOST = 3, 200
_FEWEST_OF_MANY, _MANY = 2, 1 << 21

# Where a value is: in an array or a number that the chain is given, in a variable before or after its first update in
# the chain, or in a block of its own.
_ARRAY, _NUMBER, _BEFORE, _AFTER, _BLOCK_OF = "array", "number", "before", "after", "block"


def add_chains(program) -> None:
    """Put chains before the instructions of a program that they can do the work of."""
    instructions, found, start = program.instructions, [], 0
    while start < len(instructions):
        chain = _longest_chain(program, start)
        if chain is not None:
            found.append((start, chain))
        start += 1 if chain is None else chain.parts
    for start, chain in reversed(found):
        instructions.insert(start, chain)


def _longest_chain(program, start):
    """The instruction of the longest chain that begins at an instruction; None when there is none."""
    writing, end = _Writing(program), 0
    for number, instruction in enumerate(program.instructions[start : start + _MOST], 1):
        if not writing.add(instruction):
            break
        if writing.is_complete and number >= writing.fewest:
            end = number
    if not end:
        return None
    parts = program.instructions[start : start + end]
    writing = _Writing(program)
    for instruction in parts:
        writing.add(instruction)
    places = sorted(writing.arguments)
    # Afterwards, these places are free, or have had a value of the chain's that nobody reads.
    dead = tuple(sorted(writing.touched))
    chain = KernelCall(CHAIN, writing.chain(places).run, places, parts[-1].step, dead, [])
    chain.parts = end
    return chain


class _Writing:
    """The chain of some instructions, one added after the other.

    Attributes:
        arguments: the places of what it takes.
        touched: the places that its instructions free, or put something into.
    """

    def __init__(self, program):
        self._bound = program.bound
        self._shape = self._dtype = None
        # By place, the cell that has the value: (kind, place). Of a variable's value: also at which update it was read.
        self._made: dict[int, tuple] = {}
        self._updates: dict[int, int] = {}  # place of a handle to how often the variable was updated
        self._calls: list[tuple] = []  # function, cells of its arguments, cell of the result
        self._live: set[int] = set()
        self.arguments: set[int] = set()
        self.touched: set[int] = set()

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it is read later, and the last thing was an update."""
        return not self._live and bool(self._calls) and self._calls[-1][2][0] is _AFTER

    @property
    def fewest(self) -> int:
        """How many operations are worth a chain."""
        return _FEWEST_OF_MANY if math.prod(self._shape) >= _MANY else _FEWEST

    def add(self, instruction) -> bool:
        """Take one more instruction; whether that is possible."""
        step = instruction.step
        record = step.record
        if id(step) in self._bound or kernel_of(step) is not None:
            return False
        if record is READ_VARIABLE:
            made = self._read(instruction)
        elif record in ASSIGNMENTS:
            made = self._write(instruction, ASSIGNMENTS[record])
        else:
            made = self._compute(instruction)
        if made is None:
            return False
        for place, cell in made.items():
            self._made[place] = cell
            self._live.add(place)
            self.touched.add(place)
        self.touched.update(instruction.dead)
        self._live.difference_update(instruction.dead)
        return True

    def _read(self, instruction):
        (handle,) = instruction.operands
        if handle in self._made or not self._is_large(instruction.step.outputs[0]):
            return None
        self.arguments.add(handle)
        updates = self._updates.get(handle, 0)
        return {instruction.place: (_AFTER if updates else _BEFORE, handle, updates)}

    def _write(self, instruction, function):
        handle, place = instruction.operands
        value = instruction.step.inputs[1]
        if handle in self._made or not self._is_large(value):
            return None
        source = self._source(value, place)
        # An array that is assigned as it is needs no copy.
        if source is None or (function is None and source[0] is _ARRAY):
            return None
        self.arguments.add(handle)
        updates = self._updates.get(handle, 0)
        before = (_AFTER if updates else _BEFORE, handle)
        self._calls.append((function, (source,) if function is None else (before, source), (_AFTER, handle)))
        self._updates[handle] = updates + 1
        return {}

    def _compute(self, instruction):
        step = instruction.step
        record = step.record
        if not record.is_plain or step.attrs or not step.inputs:
            return None
        function = function_of(record.kernel, step)
        if function not in EXACT or not self._is_large(step.outputs[0]):
            return None
        sources = tuple(map(self._source, step.inputs, instruction.operands))
        if None in sources:
            return None
        cell = _BLOCK_OF, instruction.place
        self._calls.append((function, sources, cell))
        return {instruction.place: cell}

    def _is_large(self, tensor):
        """Whether a tensor has the shape and dtype of the chain, which the first one decides."""
        shape, dtype = tensor._shape, tensor.dtype._np
        if self._shape is None:
            if dtype.kind != "f" or not shape.is_fully_defined() or shape.num_elements() < LARGE_UPDATE:
                return False
            self._shape, self._dtype = tuple(shape.as_list()), dtype
            return True
        return dtype is self._dtype and shape.is_fully_defined() and tuple(shape.as_list()) == self._shape

    def _source(self, tensor, place):
        """The cell of an operand; None when there is none, or the variable has another value by now."""
        made = self._made.get(place)
        if made is not None:
            if made[0] is not _BLOCK_OF and made[2] != self._updates.get(made[1], 0):
                return None
            return made[:2]
        if tensor.dtype._np is not self._dtype:
            return None
        self.arguments.add(place)
        if tensor._shape.rank == 0:
            return _NUMBER, place
        return (_ARRAY, place) if self._is_large(tensor) else None

    def chain(self, places) -> "_Chain":
        """What runs it, given the values at these places."""
        return _Chain(self._shape, self._dtype, self._calls, places)


class _Chain:
    """Runs a chain."""

    def __init__(self, shape, dtype, calls, places):
        """
        Args:
            shape, dtype: of all values but numbers.
            calls: (function or None for a copy, cells of its arguments, cell of its result), in order.
            places: of what `run` is given, in order.
        """
        self._shape, self._dtype = shape, dtype
        self._size = int(np.prod(shape, dtype=np.int64))
        cells = {cell: None for _, sources, result in calls for cell in (*sources, result)}
        numbers = {cell: i for i, cell in enumerate(cells)}
        self._calls = [(f, *[numbers[x] for x in sources], numbers[result]) for f, sources, result in calls]
        self._count = len(cells)
        at = {place: i for i, place in enumerate(places)}
        self._arrays = [(i, at[cell[1]]) for cell, i in numbers.items() if cell[0] is _ARRAY]
        self._scalars = [(i, at[cell[1]]) for cell, i in numbers.items() if cell[0] is _NUMBER]
        self._blocks = [i for cell, i in numbers.items() if cell[0] is _BLOCK_OF]
        handles = {cell[1]: None for cell in cells if cell[0] in (_BEFORE, _AFTER)}
        # For each variable where its handle is, and the numbers of its cells, None where there is none.
        self._variables = [(at[x], numbers.get((_BEFORE, x)), numbers.get((_AFTER, x))) for x in handles]

    def run(self, arguments: list) -> bool:
        """Run on the values at its places; False when it cannot, and then nothing has changed."""
        cells: list = [None] * self._count
        for i, at in self._arrays:
            array = arguments[at]
            if not self._fits(array):
                return False
            cells[i] = array.reshape(-1)
        for i, at in self._scalars:
            number = arguments[at]
            if number.ndim or number.dtype is not self._dtype:
                return False
            cells[i] = number
        storages = [arguments[at][()] for at, _, _ in self._variables]
        if not all(type(x) is Storage and x.dtype._np is self._dtype for x in storages):
            return False
        if len(set(map(id, storages))) < len(storages):  # one variable by two names
            return False
        locked = sorted((x for x, (_, _, after) in zip(storages, self._variables) if after is not None), key=id)
        for storage in locked:
            storage.lock.acquire()
        try:
            return self._run_locked(cells, storages)
        finally:
            for storage in locked:
                storage.lock.release()

    def _fits(self, array):
        is_like = array is not None and array.shape == self._shape and array.dtype is self._dtype
        return is_like and array.flags.c_contiguous

    def _run_locked(self, cells, storages):
        for storage, (_, before, after) in zip(storages, self._variables):
            value = storage.value
            if not self._fits(value):
                return False
            if after is None:
                cells[before] = value.reshape(-1)
        del value
        written = [(x, cell, after) for x, (_, cell, after) in zip(storages, self._variables) if after is not None]
        # Memory for new values; None where they can go over the ones before, as in `Storage.update`.
        fresh = [None if _is_own(storage) else empty(self._shape, self._dtype) for storage, _, _ in written]
        values = []
        try:
            for (storage, before, after), new in zip(written, fresh):
                value = storage.value
                values.append((storage, value if new is None else new))
                if new is None:
                    storage.value = None  # readers in other threads wait for the lock
                if before is not None:
                    cells[before] = value.reshape(-1)
                cells[after] = values[-1][1].reshape(-1)
            self._compute(cells)
        except BaseException:
            for storage, value in values:
                storage.value = value if storage.value is None else storage.value
            raise
        for storage, value in values:
            storage.value, storage.device = value, None
        return True

    def _compute(self, cells):
        """Block by block, in several threads."""
        arrays = [(i, cell) for i, cell in enumerate(cells) if cell is not None and cell.ndim]

        def compute(part):
            block = cells.copy()
            for i, array in arrays:
                block[i] = array[part]
            for i in self._blocks:
                block[i] = np.empty(part.stop - part.start, self._dtype)
            for function, *sources, result in self._calls:
                if function is None:
                    np.copyto(block[result], block[sources[0]])
                else:
                    function(*[block[i] for i in sources], out=block[result])

        in_slices(compute, self._size, _BLOCK)


def _is_own(storage):
    """Whether nobody but the storage has the array of its value."""
    if sys.getrefcount(storage.value) > EXCLUSIVE:
        return False
    flags = storage.value.flags
    return flags.writeable and flags.owndata
