"""`Dataset.list_files`: the paths that match patterns."""

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import DatasetV2, constructor, dataset_op
from headrace._src.data.sources.slices import SliceStage
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.debugging.assertions import ASSERT
from headrace._src.ops.math.arithmetic import ADD_STRINGS, MAXIMUM
from headrace._src.ops.parsing.file_ops import MATCHING_FILES
from headrace._src.ops.strings.editing import REDUCE_JOIN


def _make_matching(patterns):
    return SliceStage([MATCHING_FILES.kernel(patterns)], [TensorShape([])])


MATCHING_FILES_DATASET = dataset_op("MatchingFilesDataset", "patterns: string", _make_matching, stateful=True)


@constructor
def list_files(file_pattern, shuffle=None, seed=None, name=None) -> DatasetV2:
    """The paths of the files that match patterns, as scalar strings.

    The patterns are looked up when the dataset is made.

    Args:
        file_pattern: a string, or a list or tensor of strings: patterns as for `tf.io.gfile.glob`.
        shuffle: False for the paths in alphabetical order. Otherwise each walk through the dataset has a random order
            of its own.
        seed: an integer for the same random orders in each run of the program.
        name: a name for the operation.

    >>> import pathlib
    >>> for letter in "ab":
    ...     _ = pathlib.Path(f"/tmp/headrace_list_{letter}.txt").write_text(letter)
    >>> list(tf.data.Dataset.list_files("/tmp/headrace_list_*.txt", shuffle=False).as_numpy_iterator())
    [b'/tmp/headrace_list_a.txt', b'/tmp/headrace_list_b.txt']

    Raises:
        InvalidArgumentError: no file matches.
    """
    shuffle = True if shuffle is None else shuffle
    patterns = to_tensor(file_pattern, dtypes.string)
    matching = MATCHING_FILES(patterns)
    count = SHAPE(matching, out_type=dtypes.int64)[0]
    message = "No files matched pattern: "
    if context.graph is None:
        if not matching._a.size:
            names = ", ".join(path.decode(errors="replace") for path in patterns._a.ravel())
            raise errors.invalid_argument(f"Dataset.list_files: {message}{names}")
    else:
        joined = REDUCE_JOIN(RESHAPE(patterns, to_tensor([-1])), to_tensor(0), separator=", ")
        ASSERT(count > 0, [ADD_STRINGS(to_tensor(message), joined)])
    dataset = DatasetV2.from_tensor_slices(matching, name=name)
    if shuffle:
        size = MAXIMUM(count, to_tensor(1, dtypes.int64))
        dataset = dataset.shuffle(size, seed=seed, name=name)
    return dataset
