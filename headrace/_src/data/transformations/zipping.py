"""`Dataset.zip`: the elements of several datasets side by side."""

import collections.abc

from headrace._src.core import errors, nest
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constructor, dataset_op
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Access, Cursor, Stage, joined, shapes_of, stage_of


class _Zipped(Access):
    def __init__(self, parts):
        self._parts = parts
        self.size = min(part.size for part in parts)

    def get(self, index):
        return tuple([array for part in self._parts for array in part.get(index)])

    def gather(self, indices):
        return tuple([array for part in self._parts for array in part.gather(indices)])

    def slice(self, start, stop):
        return tuple([array for part in self._parts for array in part.slice(start, stop)])


class ZipStage(Stage):
    """The elements of the inputs side by side, as long as all have one."""

    method = "Dataset.zip"
    passes_on = True

    def cardinality(self):
        sizes = [stage.cardinality() for stage in self.inputs]
        if UNKNOWN in sizes:
            return UNKNOWN
        return min([size for size in sizes if size != INFINITE], default=INFINITE)

    @property
    def access(self):
        parts = [stage.access for stage in self.inputs]
        return None if None in parts else _Zipped(parts)

    @property
    def has_blocks(self):
        return all(stage.has_blocks for stage in self.inputs)

    @property
    def reads_ahead(self):
        reads = [stage.reads_ahead for stage in self.inputs]
        return any(reads) and all(ahead or stage.access is not None for ahead, stage in zip(reads, self.inputs))

    def walk(self, run):
        return _ZipCursor(self, run)


class _ZipCursor(Cursor):
    def __init__(self, stage, run):
        self._inner = [source.cursor(run) for source in stage.inputs]

    def next(self):
        element, error = [], None
        for cursor in self._inner:
            try:
                part = cursor.next()
            except Exception as failure:
                # The others go on too, so that they stay side by side.
                error = error or failure
                continue
            if part is None:
                return None
            element += part
        if error is not None:
            raise error
        return tuple(element)

    def block(self, count):
        parts = []
        for cursor in self._inner:
            blocks, missing = [], count
            # The first decides how many elements the block has; the others give as many.
            while missing and (block := cursor.block(missing)) is not None:
                blocks.append(block)
                missing = missing - block[0].shape[0] if parts else 0
            if not blocks:
                return None
            parts.append(joined(blocks))
            count = parts[-1][0].shape[0]
        return tuple([array[:count] for part in parts for array in part])

    def skip(self, count):
        return min([cursor.skip(count) for cursor in self._inner])

    def state(self):
        return {"inner": [cursor.state() for cursor in self._inner]}

    def restore(self, state):
        for cursor, part in zip(self._inner, state["inner"]):
            cursor.restore(part)

    def close(self):
        for cursor in self._inner:
            cursor.close()


def _make(input_datasets, output_types, output_shapes, metadata):
    return ZipStage(shapes_of(output_shapes), [stage_of(dataset) for dataset in input_datasets])


ZIP_DATASET = dataset_op("ZipDataset", f"input_datasets: N*variant, *, {OUTPUTS}", _make)


def _check(structure):
    """Refuse values that are not datasets."""
    if isinstance(structure, DatasetV2):
        return
    if isinstance(structure, tuple):
        for part in structure:
            _check(part)
    elif isinstance(structure, collections.abc.Mapping):
        for part in structure.values():
            _check(part)
    elif hasattr(type(structure), "__attrs_attrs__"):
        for field in type(structure).__attrs_attrs__:
            _check(getattr(structure, field.name))
    elif isinstance(structure, list):
        raise TypeError(
            "Dataset.zip: `datasets` must be a (nested) structure of `tf.data.Dataset` objects. A `list` is not "
            "supported: use a `tuple` instead."
        )
    else:
        raise TypeError(
            "Dataset.zip: `datasets` must be a (nested) structure of `tf.data.Dataset` objects, but it contains "
            f"{type(structure).__name__}."
        )


def zipped(structure, name=None):
    """The dataset of the elements of a structure of datasets side by side."""
    _check(structure)
    datasets = nest.flatten(structure)
    if not datasets:
        raise errors.invalid_argument("Dataset.zip: there is no dataset to zip.")
    spec = nest.pack_sequence_as(structure, [dataset.element_spec for dataset in datasets])
    variants = [dataset._variant_tensor for dataset in datasets]
    return build("_ZipDataset", ZIP_DATASET, variants, spec=spec, of=datasets, name=name)


def _zip(*args, datasets=None, name=None) -> DatasetV2:
    """The elements of several datasets side by side, until the shortest ends.

    Args:
        args: datasets, or one structure of datasets.
        datasets: a structure of datasets, in place of `args`.
        name: a name for the operation.

    >>> numbers, letters = tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> list(tf.data.Dataset.zip(numbers, letters).as_numpy_iterator())
    [(np.int64(0), b'a'), (np.int64(1), b'b')]
    """
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    if args:
        datasets = args[0] if len(args) == 1 else args
    return zipped(datasets, name)


_zip.__name__ = "zip"  # the name is Python's in this file
constructor(_zip)
