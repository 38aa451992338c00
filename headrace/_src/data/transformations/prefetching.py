"""`Dataset.prefetch`: elements made ahead of time, by a thread of its own."""

from headrace._src.core import dtypes, errors
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursor_choice import PREFETCH, chosen
from headrace._src.data.running.stages import Stage, shapes_of, stage_of

# With AUTOTUNE: enough for the consumer to find an element whenever it comes back.
_AUTOMATIC = 2


class PrefetchStage(Stage):
    """The elements of the input, up to `size` of them made before they are asked for."""

    method = "Dataset.prefetch"
    passes_on = True

    def __init__(self, source, size, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.size = _AUTOMATIC if size < 0 else size

    def cardinality(self):
        return self.source.cardinality()

    def walk(self, run):
        return chosen(PREFETCH, self, run)


def _make(input_dataset, buffer_size, output_types, output_shapes, **unused):
    size = integer(buffer_size, "buffer_size")
    if size < -1:
        raise errors.invalid_argument(
            f"buffer_size must be >= 0 or set buffer_size to be {-1} for auto-tuning, got {size}."
        )
    return PrefetchStage(stage_of(input_dataset), size, shapes_of(output_shapes))


PREFETCH_DATASET = dataset_op(
    "PrefetchDataset",
    f"input_dataset: variant, buffer_size: int64, *, {OUTPUTS}, slack_period: int = 0, legacy_autotune: bool = True, "
    "buffer_size_min: int = 0",
    _make,
)


@method
def prefetch(self, buffer_size, name=None) -> DatasetV2:
    """The same elements, made ahead of time while the program works on those before.

    Args:
        buffer_size: how many elements may wait, or `tf.data.AUTOTUNE`.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(3).prefetch(2)]
    [0, 1, 2]
    """
    size = constant(-1 if buffer_size is None else buffer_size, dtypes.int64)
    return build("_PrefetchDataset", PREFETCH_DATASET, self, size, spec=self.element_spec, of=[self], name=name)
