"""The public names of `tf.data.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.data.datasets import AUTOTUNE as AUTOTUNE
    from headrace._src.data.datasets import INFINITE_CARDINALITY as INFINITE_CARDINALITY
    from headrace._src.data.datasets import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
    from headrace._src.data.options import AutoShardPolicy as AutoShardPolicy
    from headrace._src.data.options import AutotuneAlgorithm as AutotuneAlgorithm
    from headrace._src.data.options import AutotuneOptions as AutotuneOptions
    from headrace._src.data.options import DistributeOptions as DistributeOptions
    from headrace._src.data.options import ExternalStatePolicy as ExternalStatePolicy
    from headrace._src.data.options import OptimizationOptions as OptimizationOptions
    from headrace._src.data.options import ServiceOptions as ServiceOptions
    from headrace._src.data.options import ThreadingOptions as ThreadingOptions
    from headrace._src.data.running.debug_mode import enable_debug_mode as enable_debug_mode
    from headrace._src.data.running.optionals import Optional as Optional
    from headrace._src.data.running.optionals import OptionalSpec as _OptionalStructure
    from headrace._src.data.saving.loading import _experimental_load as _load
    from headrace._src.data.saving.record_writing import DatasetRecordWriter as _TFRecordWriter
    from headrace._src.data.saving.snapshots import _experimental_snapshot as _snapshot
    from headrace._src.data.saving.writing import _experimental_save as _save
    from headrace._src.data.service.distributed_saving import distributed_save as distributed_save
    from headrace._src.data.service.shards import SHARD_HINT as SHARD_HINT
    from headrace._src.data.sources.counting import Counter as Counter
    from headrace._src.data.sources.csv_datasets import CsvDatasetV2 as _CsvDataset
    from headrace._src.data.sources.csv_files import make_csv_dataset as make_csv_dataset
    from headrace._src.data.sources.feature_datasets import make_batched_features_dataset as make_batched_features_dataset
    from headrace._src.data.sources.feature_datasets import parse_example_dataset as parse_example_dataset
    from headrace._src.data.sources.lists import from_list as from_list
    from headrace._src.data.sources.random_numbers import RandomDataset as RandomDataset
    from headrace._src.data.sources.sql_datasets import SqlDatasetV2 as _SqlDataset
    from headrace._src.data.tables import DatasetInitializer as DatasetInitializer
    from headrace._src.data.tables import index_table_from_dataset as index_table_from_dataset
    from headrace._src.data.tables import table_from_dataset as table_from_dataset
    from headrace._src.data.transformations.asserted_cardinality import assert_cardinality as assert_cardinality
    from headrace._src.data.transformations.asserted_cardinality import pad_to_cardinality as pad_to_cardinality
    from headrace._src.data.transformations.bucketing import _bucket_by_sequence_length as _bucket_by_sequence_length
    from headrace._src.data.transformations.cardinalities import _cardinality as _cardinality
    from headrace._src.data.transformations.enumerating import enumerate_dataset as enumerate_dataset
    from headrace._src.data.transformations.fused_steps import map_and_batch as map_and_batch
    from headrace._src.data.transformations.fused_steps import shuffle_and_repeat as shuffle_and_repeat
    from headrace._src.data.transformations.group_reducing import Reducer as Reducer
    from headrace._src.data.transformations.group_reducing import group_by_reducer as group_by_reducer
    from headrace._src.data.transformations.grouping import _group_by_window as _group_by_window
    from headrace._src.data.transformations.ignoring_errors import _ignore_errors as _ignore_errors
    from headrace._src.data.transformations.legacy_interleaving import parallel_interleave as parallel_interleave
    from headrace._src.data.transformations.picking import _get_single_element as _get_single_element
    from headrace._src.data.transformations.picking import at as at
    from headrace._src.data.transformations.ragged_batching import dense_to_ragged_batch as dense_to_ragged_batch
    from headrace._src.data.transformations.resampling import _rejection_resample as _rejection_resample
    from headrace._src.data.transformations.sampling import _choose_from_datasets as _choose_from_datasets
    from headrace._src.data.transformations.sampling import _sample_from_datasets as _sample_from_datasets
    from headrace._src.data.transformations.scanning import _scan as _scan
    from headrace._src.data.transformations.sparse_batching import dense_to_sparse_batch as dense_to_sparse_batch
    from headrace._src.data.transformations.taking_while import _take_while as _take_while
    from headrace._src.data.transformations.to_device import copy_to_device as copy_to_device
    from headrace._src.data.transformations.to_device import prefetch_to_device as prefetch_to_device
    from headrace._src.data.transformations.unbatching import _unbatch as _unbatch
    from headrace._src.data.transformations.uniqueness import _unique as _unique
    from headrace._src.data.variants import from_variant as from_variant
    from headrace._src.data.variants import get_next_as_optional as get_next_as_optional
    from headrace._src.data.variants import get_structure as get_structure
    from headrace._src.data.variants import to_variant as to_variant
    from headrace.data.experimental import service as service
    CsvDataset = _CsvDataset
    OptionalStructure = _OptionalStructure
    SqlDataset = _SqlDataset
    TFRecordWriter = _TFRecordWriter
    bucket_by_sequence_length = _bucket_by_sequence_length
    cardinality = _cardinality
    choose_from_datasets = _choose_from_datasets
    get_single_element = _get_single_element
    group_by_window = _group_by_window
    ignore_errors = _ignore_errors
    load = _load
    rejection_resample = _rejection_resample
    sample_from_datasets = _sample_from_datasets
    save = _save
    scan = _scan
    snapshot = _snapshot
    take_while = _take_while
    unbatch = _unbatch
    unique = _unique
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
