"""Under which names iterators save what they remember: those of TensorFlow are recorded, ours must be the same."""

import re

from headrace._src.data.saving.position_entries import DIVIDER
from headrace._src.formats.encoded_variants import decode_variant
from headrace._src.formats.tensor_bundle import BundleReader

KEY = "iterator/.ATTRIBUTES/ITERATOR_STATE"
# What holds elements, or results that are there before they are asked for: how many these are is a matter of time.
WAITING = re.compile(
    r"::#|invocation_results|batch_results|current_elements::|future_elements::|:buffer::|buffer\[|buffer_size|"
    r"results_size|elements\.size"
)
# What is there or not according to whether an input has come to its end, which TensorFlow sees sooner or later than we.
INPUTS = re.compile(r"(Shuffle|ShuffleAndRepeat|ParallelInterleaveV#(\[#\])?)::|MemoryCache|Window input_impl_empty")


def names_in(path) -> set[str]:
    """Those in a checkpoint."""
    return names_of(BundleReader(str(path)).read(KEY).ravel())


def names_of(variants) -> set[str]:
    """Iterators with their keys, without the numbers in them, and without what depends on time."""
    found = set()
    for variant in variants:
        owner, *keys = decode_variant(variant)[1].decode().split(DIVIDER)
        if owner.startswith("Iterator"):
            found |= {re.sub(r"\d+(?![a-z|])", "#", f"{owner} {key.rpartition(':')[2]}") for key in keys}
    return {name for name in found if not WAITING.search(name) and not INPUTS.search(name)}


def names_at_all(folder, name, positions) -> list[str]:
    """Those of a pipeline at all of its positions."""
    return sorted(set().union(*[names_in(folder / f"{name}-{position}") for position in positions]))
