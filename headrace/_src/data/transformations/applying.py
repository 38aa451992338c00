"""`Dataset.apply`: a transformation that is a function of datasets."""

from headrace._src.data.datasets import DatasetV2, method


@method
def apply(self, transformation_func) -> DatasetV2:
    """What a function makes of this dataset: so that functions of datasets can be chained like methods.

    Args:
        transformation_func: a function of a dataset that returns a dataset.

    >>> def first_two(dataset):
    ...     return dataset.take(2)
    >>> [int(x) for x in tf.data.Dataset.range(9).apply(first_two)]
    [0, 1]
    """
    dataset = transformation_func(self)
    if not isinstance(dataset, DatasetV2):
        raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
    return dataset
