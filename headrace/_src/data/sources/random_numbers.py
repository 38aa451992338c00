"""`Dataset.random`: random numbers without end."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import OUTPUTS, DatasetV2, MadeDataset, build, constructor, dataset_op, integer
from headrace._src.data.running.stages import INFINITE, Cursor, Stage, shapes_of
from headrace._src.data.transformations.shuffling import DUMMY_SEED_GENERATOR, RandomWords, Seeds, seed_inputs
from headrace._src.op.api import api


class RandomStage(Stage):
    """Random numbers of 32 bits."""

    method = "Dataset.random"

    def __init__(self, seeds, shapes):
        super().__init__(shapes)
        self.seeds = seeds

    def cardinality(self):
        return INFINITE

    @property
    def has_blocks(self):
        return True

    def walk(self, run):
        return _RandomCursor(self)


class _RandomCursor(Cursor):
    def __init__(self, stage):
        self._stage = stage
        self._words = RandomWords(*stage.seeds.draw())

    def next(self):
        return (np.array(self._words.next(), np.int64),)

    def block(self, count):
        return (np.array(self._words.take(count), np.int64),)

    def skip(self, count):
        self._words.seek(self._words.used + count)
        return count

    def state(self):
        words = self._words
        return {"seeds": list(words.seeds), "used": words.used, "next": self._stage.seeds.state()}

    def restore(self, state):
        self._words = RandomWords(*state["seeds"])
        self._words.seek(state["used"])
        self._stage.seeds.restore(state["next"])


def _make(seed, seed2, seed_generator, rerandomize_each_iteration, output_types, output_shapes, metadata):
    seeds = Seeds(integer(seed, "seed"), integer(seed2, "seed2"), rerandomize_each_iteration)
    return RandomStage(seeds, shapes_of(output_shapes))


RANDOM_DATASET = dataset_op(
    "RandomDatasetV2",
    f"seed: int64, seed2: int64, seed_generator: resource, *, rerandomize_each_iteration: bool = False, {OUTPUTS}",
    _make,
    stateful=True,
)


@constructor
def random(seed=None, rerandomize_each_iteration=None, name=None) -> DatasetV2:
    """Random numbers from 0 up to 2**32 - 1, as int64, without end.

    Args:
        seed: an integer for the same numbers in each run of the program.
        rerandomize_each_iteration: whether each walk through the dataset has other numbers.
        name: a name for the operation.

    >>> one, two = [list(tf.data.Dataset.random(seed=4).take(3).as_numpy_iterator()) for _ in range(2)]
    >>> one == two
    True
    """
    return build(
        "_RandomDataset", RANDOM_DATASET, *seed_inputs(seed), DUMMY_SEED_GENERATOR(),
        rerandomize_each_iteration=rerandomize_each_iteration, spec=TensorSpec([], dtypes.int64), name=name,
    )  # fmt: skip


@api("data.experimental.RandomDataset", dispatch=False)
class RandomDataset(MadeDataset):
    """Random numbers without end: see `tf.data.Dataset.random`."""

    def __init__(self, seed=None, rerandomize_each_iteration=None, name=None) -> None:
        made = DatasetV2.random(seed, rerandomize_each_iteration, name)
        super().__init__(made._variant_tensor, made.element_spec)
