"""`make_batched_features_dataset` and `parse_example_dataset`: parsed Examples out of files."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import AUTOTUNE, DatasetV2, check_dataset, dataset_of
from headrace._src.data.sources.csv_files import matching_files, shuffled_and_repeated
from headrace._src.data.sources.file_datasets import TFRecordDatasetV2
from headrace._src.op.api import api
from headrace._src.ops.parsing.examples import parse_example


@api("data.experimental.parse_example_dataset", dispatch=False)
def parse_example_dataset(features, num_parallel_calls=1, deterministic=None) -> Callable[..., Any]:
    """What parses the elements of a dataset of batches of encoded Examples, for `apply`.

    Args:
        features: a dictionary from names to descriptions of features: see `tf.io.parse_example`.
        num_parallel_calls: how many batches may be parsed at the same time.
        deterministic: False if batches may come in another order.

    >>> features = {"x": tf.io.FixedLenFeature([], tf.int64)}
    >>> value = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": value})).SerializeToString()
    >>> dataset = tf.data.Dataset.from_tensor_slices([example]).batch(2)
    >>> list(dataset.apply(tf.data.experimental.parse_example_dataset(features)).as_numpy_iterator())
    [{'x': array([7])}]
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def parsed(dataset):
        check_dataset(dataset, "parse_example_dataset")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string or spec.shape.rank not in (None, 1):
            raise TypeError(f"Input dataset should be a dataset of vectors of strings. Instead it is {spec}.")
        made = dataset.map(
            lambda records: parse_example(records, features), num_parallel_calls=num_parallel_calls,
            deterministic=deterministic,
        )  # fmt: skip
        return dataset_of(made._variant_tensor, made.element_spec, "_ParseExampleDataset", [dataset])

    return parsed


@api("data.experimental.make_batched_features_dataset", dispatch=False)
def make_batched_features_dataset(
    file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None, num_epochs=None, shuffle=True,
    shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, reader_num_threads=None,
    parser_num_threads=None, sloppy_ordering=False, drop_final_batch=False,
) -> DatasetV2:  # fmt: skip
    """Batches of parsed Examples out of files: dictionaries of tensors.

    Args:
        file_pattern: a pattern, or a list of patterns, of paths.
        batch_size: how many Examples make a batch.
        features: a dictionary from names to descriptions of features: see `tf.io.parse_example`.
        reader: from a path (and `reader_args`) to a dataset of encoded Examples; None for `tf.data.TFRecordDataset`.
        label_key: the feature that is not in the dictionary, but the second part of elements.
        reader_args: further arguments of `reader`.
        num_epochs: how many times the files are read; None for without end, where there are full batches only.
        shuffle: whether files and Examples come in random order.
        shuffle_buffer_size: how many Examples are drawn from.
        shuffle_seed: an integer for the same order in each run of the program.
        prefetch_buffer_size: how many batches are made ahead of time; None for `tf.data.AUTOTUNE`.
        reader_num_threads: how many files are read in turns.
        parser_num_threads: how many batches may be parsed at the same time.
        sloppy_ordering: whether Examples of several files may come in any order.
        drop_final_batch: whether the last batch is left out when it has fewer.
    """
    reader = TFRecordDatasetV2 if reader is None else reader
    if isinstance(reader, type) and not issubclass(reader, DatasetV2):
        raise TypeError(f"The `reader` argument must return a `Dataset` object, got {reader!r}.")
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {list(features)}."
        )
    arguments = list(reader_args or ())
    paths = matching_files(file_pattern)
    dataset = DatasetV2.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)
    threads = 1 if reader_num_threads is None else reader_num_threads
    parallel = AUTOTUNE if threads == AUTOTUNE else None
    dataset = dataset.interleave(
        lambda path: reader(path, *arguments), cycle_length=threads, block_length=1, num_parallel_calls=parallel
    )
    if isinstance(dataset.element_spec, tuple):
        dataset = dataset.map(lambda *parts: parts[-1])  # readers of keys and values
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads)(dataset)
    if label_key is not None:
        dataset = dataset.map(lambda batch: (batch, batch.pop(label_key)))
    return dataset.prefetch(prefetch_buffer_size)
