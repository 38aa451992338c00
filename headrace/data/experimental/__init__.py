"""The public names of `tf.data.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.data.asserted_cardinality import assert_cardinality as assert_cardinality
    from headrace._src.data.asserted_cardinality import pad_to_cardinality as pad_to_cardinality
    from headrace._src.data.bucketing import _bucket_by_sequence_length as bucket_by_sequence_length
    from headrace._src.data.cardinalities import _cardinality as cardinality
    from headrace._src.data.counting import Counter as Counter
    from headrace._src.data.csv_datasets import CsvDatasetV2 as CsvDataset
    from headrace._src.data.csv_files import make_csv_dataset as make_csv_dataset
    from headrace._src.data.datasets import AUTOTUNE as AUTOTUNE
    from headrace._src.data.datasets import INFINITE_CARDINALITY as INFINITE_CARDINALITY
    from headrace._src.data.datasets import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
    from headrace._src.data.debug_mode import enable_debug_mode as enable_debug_mode
    from headrace._src.data.enumerating import enumerate_dataset as enumerate_dataset
    from headrace._src.data.feature_datasets import make_batched_features_dataset as make_batched_features_dataset
    from headrace._src.data.feature_datasets import parse_example_dataset as parse_example_dataset
    from headrace._src.data.fused_steps import map_and_batch as map_and_batch
    from headrace._src.data.fused_steps import shuffle_and_repeat as shuffle_and_repeat
    from headrace._src.data.group_reducing import Reducer as Reducer
    from headrace._src.data.group_reducing import group_by_reducer as group_by_reducer
    from headrace._src.data.grouping import _group_by_window as group_by_window
    from headrace._src.data.ignoring_errors import _ignore_errors as ignore_errors
    from headrace._src.data.legacy_interleaving import parallel_interleave as parallel_interleave
    from headrace._src.data.lists import from_list as from_list
    from headrace._src.data.loading import _experimental_load as load
    from headrace._src.data.optionals import Optional as Optional
    from headrace._src.data.optionals import OptionalSpec as OptionalStructure
    from headrace._src.data.options import AutoShardPolicy as AutoShardPolicy
    from headrace._src.data.options import AutotuneAlgorithm as AutotuneAlgorithm
    from headrace._src.data.options import AutotuneOptions as AutotuneOptions
    from headrace._src.data.options import DistributeOptions as DistributeOptions
    from headrace._src.data.options import ExternalStatePolicy as ExternalStatePolicy
    from headrace._src.data.options import OptimizationOptions as OptimizationOptions
    from headrace._src.data.options import ServiceOptions as ServiceOptions
    from headrace._src.data.options import ThreadingOptions as ThreadingOptions
    from headrace._src.data.picking import _get_single_element as get_single_element
    from headrace._src.data.picking import at as at
    from headrace._src.data.ragged_batching import dense_to_ragged_batch as dense_to_ragged_batch
    from headrace._src.data.random_numbers import RandomDataset as RandomDataset
    from headrace._src.data.record_writing import DatasetRecordWriter as TFRecordWriter
    from headrace._src.data.resampling import _rejection_resample as rejection_resample
    from headrace._src.data.sampling import _choose_from_datasets as choose_from_datasets
    from headrace._src.data.sampling import _sample_from_datasets as sample_from_datasets
    from headrace._src.data.saving import _experimental_save as save
    from headrace._src.data.scanning import _scan as scan
    from headrace._src.data.service_shards import SHARD_HINT as SHARD_HINT
    from headrace._src.data.snapshots import _experimental_snapshot as snapshot
    from headrace._src.data.sparse_batching import dense_to_sparse_batch as dense_to_sparse_batch
    from headrace._src.data.sql_datasets import SqlDatasetV2 as SqlDataset
    from headrace._src.data.tables import DatasetInitializer as DatasetInitializer
    from headrace._src.data.tables import index_table_from_dataset as index_table_from_dataset
    from headrace._src.data.tables import table_from_dataset as table_from_dataset
    from headrace._src.data.taking_while import _take_while as take_while
    from headrace._src.data.to_device import copy_to_device as copy_to_device
    from headrace._src.data.to_device import prefetch_to_device as prefetch_to_device
    from headrace._src.data.unbatching import _unbatch as unbatch
    from headrace._src.data.uniqueness import _unique as unique
    from headrace._src.data.variants import from_variant as from_variant
    from headrace._src.data.variants import get_next_as_optional as get_next_as_optional
    from headrace._src.data.variants import get_structure as get_structure
    from headrace._src.data.variants import to_variant as to_variant
    from headrace.data.experimental import service as service
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
