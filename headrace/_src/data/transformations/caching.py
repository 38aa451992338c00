"""`Dataset.cache`: elements made once and kept, in memory or on disk."""

import threading

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running.stages import Access, AccessCursor, Cursor, Stage, shapes_of, stage_of
from headrace._src.data.saving.cache_files import CacheReader, CacheWriter, is_complete
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op


class _Remembered(Access):
    """The elements of an access, each made when it is first asked for."""

    def __init__(self, access, is_even):
        self._access = access
        self._is_even = is_even  # whether all elements have the same shapes
        self.size = access.size
        self._known = np.zeros(self.size, bool)
        self._arrays = None  # of all elements, when these are even
        self._elements = None if is_even else [None] * self.size
        self._lock = threading.Lock()

    def get(self, index):
        if self._is_even:
            return super().get(index)
        element = self._elements[index]
        if element is None:
            element = self._elements[index] = self._access.get(index)
        return element

    def gather(self, indices):
        if not self._is_even:
            return super().gather(indices)
        known = self._known[indices]
        if not known.all():
            self._learn(np.unique(np.asarray(indices)[~known]))
        return tuple([array.take(indices, 0) for array in self._arrays])

    def slice(self, start, stop):
        if not self._is_even:
            return super().slice(start, stop)
        known = self._known[start:stop]
        if not known.all():
            self._learn(start + np.flatnonzero(~known))
        return tuple([array[start:stop] for array in self._arrays])

    def _learn(self, indices):
        block = self._access.gather(indices)
        with self._lock:
            if self._arrays is None:
                self._arrays = [np.empty((self.size, *part.shape[1:]), part.dtype) for part in block]
        for array, part in zip(self._arrays, block):
            array[indices] = part
        self._known[indices] = True


def _is_cheap(stage):
    """Whether the elements are parts of arrays that are there anyway."""
    if not stage.inputs:
        return stage.is_in_memory
    return not stage.functions and all(_is_cheap(before) for before in stage.inputs)


class MemoryCacheStage(Stage):
    """The elements of the input, kept in memory once they were all asked for."""

    method = "Dataset.cache"
    passes_on = True

    def __init__(self, source, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self._remembered = None
        self.elements = None  # all of them, once some walk has come to the end

    def cardinality(self):
        return self.source.cardinality()

    @property
    def access(self):
        if self._remembered is None:
            access = self.source.access
            if access is None or _is_cheap(self.source):
                return access
            self._remembered = _Remembered(access, all(shape.is_fully_defined() for shape in self.source.shapes))
        return self._remembered

    def walk(self, run):
        return _MemoryCursor(self, run)


class _MemoryCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._begin(None)

    def _begin(self, elements):
        """Keep elements while walking through the input, or walk through those that are kept."""
        self._all = self._stage.elements
        self._at = 0
        self._kept = elements or []
        self._inner = None if self._all is not None else self._stage.source.cursor(self._run)

    def next(self):
        if self._all is not None:
            if self._at >= len(self._all):
                return None
            self._at += 1
            return self._all[self._at - 1]
        if self._inner is None:
            return None
        element = self._inner.next()
        if element is not None:
            self._kept.append(element)
            return element
        if self._stage.elements is None:
            self._stage.elements = self._kept
        self._inner.close()
        self._inner = None
        return None

    def skip(self, count):
        if self._all is None:
            return super().skip(count)
        before, self._at = self._at, min(self._at + count, len(self._all))
        return self._at - before

    def state(self):
        """All elements that are kept: made again they might be others, if only in their order."""
        kept = self._kept if self._all is None else self._all
        inner = None if self._inner is None else self._inner.state()
        return {
            "elements": [list(element) for element in kept], "is_full": self._all is not None, "at": self._at,
            "inner": inner,
        }  # fmt: skip

    def restore(self, state):
        self.close()
        elements = [tuple(element) for element in state["elements"]]
        if state["is_full"]:
            self._all, self._at = elements, state["at"]
            if self._stage.elements is None:
                self._stage.elements = elements
            return
        self._all, self._kept, self._at = None, elements, 0
        if state["inner"] is not None:
            self._inner = self._stage.source.cursor(self._run)
            self._inner.restore(state["inner"])
        elif self._stage.elements is None:
            self._stage.elements = elements

    def close(self):
        if self._inner is not None:
            self._inner.close()
            self._inner = None


class FileCacheStage(Stage):
    """The elements of the input, kept in files once they were all asked for.

    Args:
        source: the input.
        path: what the names of the files begin with.
        types: the dtypes of the components.
        shapes: of the components.
    """

    method = "Dataset.cache"
    passes_on = True
    writes_files = True

    def __init__(self, source, path, types, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.path = path
        self.types = types

    def cardinality(self):
        return self.source.cardinality()

    def walk(self, run):
        return _FileCacheCursor(self, run)


class _FileCacheCursor(Cursor):
    """Reads from the files where they are complete; else from the input, and writes them meanwhile."""

    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._reader = self._writer = self._inner = self._files = None
        self._keeps = True
        if is_complete(stage.path):
            self._reader = self._open_reader()
        else:
            self._inner = stage.source.cursor(run)

    def _open_reader(self):
        self._files = CacheReader(self._stage.path, self._stage.types, self._stage.shapes)
        return AccessCursor(self._files)

    def next(self):
        if self._reader is not None:
            return self._reader.next()
        if self._inner is None:
            return None
        if self._writer is None and self._keeps:
            self._writer = CacheWriter(self._stage.path)
        element = self._inner.next()
        if element is not None:
            if self._keeps:
                self._writer.write(element)
            return element
        if self._keeps:
            self._writer.finish()
        self._inner.close()
        self._inner = None
        return None

    def skip(self, count):
        return self._reader.skip(count) if self._reader is not None else super().skip(count)

    def state(self):
        if self._reader is not None:
            return {"reader": self._reader.state(), "writer": None, "inner": None}
        writer = self._writer.state() if self._writer is not None else None
        return {"reader": None, "writer": writer, "inner": None if self._inner is None else self._inner.state()}

    def restore(self, state):
        self.close()
        self._reader = self._writer = self._inner = self._files = None
        if state["reader"] is not None:
            self._reader = self._open_reader()
            self._reader.restore(state["reader"])
        elif state["inner"] is not None:
            self._inner = self._stage.source.cursor(self._run)
            self._inner.restore(state["inner"])
            if state["writer"] is not None:
                # What was written is needed to go on writing. If it is gone, the next walk writes it all.
                self._writer = CacheWriter.taken_over(self._stage.path, state["writer"])
                self._keeps = self._writer is not None

    def close(self):
        if self._files is not None:
            self._files.close()
        if self._writer is not None:
            self._writer.close()
        if self._inner is not None:
            self._inner.close()


def _make(input_dataset, filename, cache, output_types, output_shapes, metadata):
    if filename.ndim:
        raise errors.invalid_argument(f"filename must be a scalar, got shape {list(filename.shape)}.")
    path = filename[()].decode("utf-8", "surrogateescape")
    source, shapes = stage_of(input_dataset), shapes_of(output_shapes)
    return FileCacheStage(source, path, output_types, shapes) if path else MemoryCacheStage(source, shapes)


DUMMY_MEMORY_CACHE = Op(
    "DummyMemoryCache",
    "-> handle: resource",
    infer=lambda: TensorShape([]),
    kernel=lambda: np.empty((), object),
    lower=None,
    grad=None,
    stateful=True,
)

CACHE_DATASET = dataset_op(
    "CacheDatasetV2",
    f"input_dataset: variant, filename: string, cache: resource, *, {OUTPUTS}",
    _make,
    stateful=True,
)


@method
def cache(self, filename="", name=None) -> DatasetV2:
    """The same elements, made once: from the second walk on they come out of memory, or from disk.

    Only a walk that comes to the end fills the cache.

    Args:
        filename: what the names of the files begin with that hold the elements; by default they are kept in memory.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(3).shuffle(3).cache()
    >>> [int(x) for x in dataset] == [int(x) for x in dataset]
    True
    """
    path = to_tensor(filename, dtypes.string)
    return build(
        "CacheDataset", CACHE_DATASET, self, path, DUMMY_MEMORY_CACHE(), spec=self.element_spec, of=[self], name=name
    )
