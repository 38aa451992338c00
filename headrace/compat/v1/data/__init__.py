"""The public names of `tf.compat.v1.data`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.data_iterators import DatasetV1 as _Dataset
    from headrace._src.compat.data_iterators import FixedLengthRecordDataset as FixedLengthRecordDataset
    from headrace._src.compat.data_iterators import Iterator as Iterator
    from headrace._src.compat.data_iterators import TFRecordDataset as TFRecordDataset
    from headrace._src.compat.data_iterators import TextLineDataset as TextLineDataset
    from headrace._src.compat.data_iterators import make_initializable_iterator as make_initializable_iterator
    from headrace._src.compat.data_iterators import make_one_shot_iterator as make_one_shot_iterator
    from headrace._src.data.datasets import AUTOTUNE as AUTOTUNE
    from headrace._src.data.datasets import DatasetSpec as DatasetSpec
    from headrace._src.data.datasets import INFINITE_CARDINALITY as INFINITE_CARDINALITY
    from headrace._src.data.datasets import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
    from headrace._src.data.options import Options as Options
    from headrace._src.data.options import ThreadingOptions as ThreadingOptions
    from headrace._src.data.running.iterators import NumpyIterator as NumpyIterator
    from headrace._src.data.variants import get_output_classes as get_output_classes
    from headrace._src.data.variants import get_output_shapes as get_output_shapes
    from headrace._src.data.variants import get_output_types as get_output_types
    from headrace.compat.v1.data import experimental as experimental
    Dataset = _Dataset
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
