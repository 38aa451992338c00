"""The public names of `tf.data`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.data.datasets import AUTOTUNE as AUTOTUNE
    from headrace._src.data.datasets import DatasetSpec as DatasetSpec
    from headrace._src.data.datasets import DatasetV2 as _Dataset
    from headrace._src.data.datasets import INFINITE_CARDINALITY as INFINITE_CARDINALITY
    from headrace._src.data.datasets import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
    from headrace._src.data.options import Options as Options
    from headrace._src.data.options import ThreadingOptions as ThreadingOptions
    from headrace._src.data.running.iterators import IteratorBase as _Iterator
    from headrace._src.data.running.iterators import IteratorSpec as IteratorSpec
    from headrace._src.data.running.iterators import NumpyIterator as NumpyIterator
    from headrace._src.data.sources.file_datasets import FixedLengthRecordDatasetV2 as _FixedLengthRecordDataset
    from headrace._src.data.sources.file_datasets import TFRecordDatasetV2 as _TFRecordDataset
    from headrace._src.data.sources.file_datasets import TextLineDatasetV2 as _TextLineDataset
    from headrace.data import experimental as experimental
    Dataset = _Dataset
    FixedLengthRecordDataset = _FixedLengthRecordDataset
    Iterator = _Iterator
    TFRecordDataset = _TFRecordDataset
    TextLineDataset = _TextLineDataset
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
