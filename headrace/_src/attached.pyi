"""What is attached to open classes, for type checkers. Written by scripts/exports: do not edit."""

from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2
from headrace._src.data.options import Options
from headrace._src.data.running.iterators import NumpyIterator
from headrace._src.data.running.iterators import OwnedIterator
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor
from typing import Any
from typing import NamedTuple

class BaseGraphMethods:
    def as_graph_def(self, from_version: Any = None, add_shapes: Any = False, use_pybind11_proto: Any = False) -> Any: ...  # graph/messages/graph_def.py
    @property
    def graph_def_versions(self) -> Any: ...  # graph/messages/graph_def.py
    def op_def_for_type(self, type: Any) -> Any: ...  # graph/messages/op_definitions.py

class DatasetV2Methods:
    def __iter__(self) -> OwnedIterator: ...  # data/running/iterators.py
    def apply(self, transformation_func: Any) -> DatasetV2: ...  # data/transformations/applying.py
    def as_numpy_iterator(self) -> NumpyIterator: ...  # data/running/iterators.py
    def batch(self, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None, deterministic: Any = None, name: Any = None) -> DatasetV2: ...  # data/transformations/batching.py
    def bucket_by_sequence_length(self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any, padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: Any = False, no_padding: Any = False, drop_remainder: Any = False, name: Any = None) -> DatasetV2: ...  # data/transformations/bucketing.py
    def cache(self, filename: Any = '', name: Any = None) -> DatasetV2: ...  # data/transformations/caching.py
    def cardinality(self) -> Tensor: ...  # data/transformations/cardinalities.py
    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: Any = True) -> DatasetV2: ...  # data/transformations/sampling.py
    def concatenate(self, dataset: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/concatenating.py
    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = ..., name: Any = None) -> DatasetV2: ...  # data/sources/counting.py
    def enumerate(self, start: Any = 0, name: Any = None) -> DatasetV2: ...  # data/transformations/enumerating.py
    def filter(self, predicate: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/filtering.py
    def fingerprint(self) -> Tensor: ...  # data/saving/fingerprints.py
    def flat_map(self, map_func: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/flat_mapping.py
    @staticmethod
    def from_generator(generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None, output_signature: Any = None, name: Any = None) -> DatasetV2: ...  # data/sources/generators.py
    @staticmethod
    def from_tensor_slices(tensors: Any, name: Any = None) -> DatasetV2: ...  # data/sources/slices.py
    @staticmethod
    def from_tensors(tensors: Any, name: Any = None) -> DatasetV2: ...  # data/sources/single_elements.py
    def get_single_element(self, name: Any = None) -> Any: ...  # data/transformations/picking.py
    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None, name: Any = None) -> DatasetV2: ...  # data/transformations/grouping.py
    def ignore_errors(self, log_warning: Any = False, name: Any = None) -> DatasetV2: ...  # data/transformations/ignoring_errors.py
    def interleave(self, map_func: Any, cycle_length: Any = None, block_length: Any = None, num_parallel_calls: Any = None, deterministic: Any = None, name: Any = None) -> DatasetV2: ...  # data/transformations/interleaving.py
    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None, name: Any = None) -> DatasetV2: ...  # data/sources/file_lists.py
    @staticmethod
    def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None, wait: Any = False) -> DatasetV2: ...  # data/saving/loading.py
    def map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, synchronous: Any = None, use_unbounded_threadpool: Any = False, name: Any = None) -> DatasetV2: ...  # data/transformations/mapping.py
    def options(self) -> Options: ...  # data/transformations/with_options.py
    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: Any = False, name: Any = None) -> DatasetV2: ...  # data/transformations/padded_batching.py
    def prefetch(self, buffer_size: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/prefetching.py
    def ragged_batch(self, batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = ..., name: Any = None) -> DatasetV2: ...  # data/transformations/ragged_batching.py
    @staticmethod
    def random(seed: Any = None, rerandomize_each_iteration: Any = None, name: Any = None) -> DatasetV2: ...  # data/sources/random_numbers.py
    @staticmethod
    def range(*args: Any, output_type: Any = ..., name: Any = None) -> DatasetV2: ...  # data/sources/ranges.py
    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: Any = None) -> DatasetV2: ...  # data/transformations/rebatching.py
    def reduce(self, initial_state: Any, reduce_func: Any, name: Any = None) -> Any: ...  # data/transformations/reducing.py
    def rejection_resample(self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None, name: Any = None) -> DatasetV2: ...  # data/transformations/resampling.py
    def repeat(self, count: Any = None, name: Any = None) -> DatasetV2: ...  # data/transformations/repeating.py
    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: Any = False, rerandomize_each_iteration: Any = None) -> DatasetV2: ...  # data/transformations/sampling.py
    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None: ...  # data/saving/writing.py
    def scan(self, initial_state: Any, scan_func: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/scanning.py
    def shard(self, num_shards: Any, index: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/sharding.py
    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True, name: Any = None) -> DatasetV2: ...  # data/transformations/shuffling.py
    def skip(self, count: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/taking.py
    def snapshot(self, path: Any, compression: Any = 'AUTO', reader_func: Any = None, shard_func: Any = None, name: Any = None) -> DatasetV2: ...  # data/saving/snapshots.py
    def sparse_batch(self, batch_size: Any, row_shape: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/sparse_batching.py
    def take(self, count: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/taking.py
    def take_while(self, predicate: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/taking_while.py
    def unbatch(self, name: Any = None) -> DatasetV2: ...  # data/transformations/unbatching.py
    def unique(self, name: Any = None) -> DatasetV2: ...  # data/transformations/uniqueness.py
    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False, name: Any = None) -> DatasetV2: ...  # data/transformations/windows.py
    def with_options(self, options: Any, name: Any = None) -> DatasetV2: ...  # data/transformations/with_options.py
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: Any = None) -> DatasetV2: ...  # data/transformations/zipping.py

class OperationMethods:
    def get_attr(self, name: Any) -> Any: ...  # graph/messages/graph_def.py
    @property
    def node_def(self) -> Any: ...  # graph/messages/graph_def.py
    @property
    def op_def(self) -> Any: ...  # graph/messages/op_definitions.py

class RaggedTensorMethods:
    def __abs__(self) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __add__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __and__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __div__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __eq__(self, other: Any) -> RaggedTensor: ...  # type: ignore[override]  # ops/ragged/operators.py
    def __floordiv__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __ge__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __getitem__(self, key: Any) -> Tensor | RaggedTensor: ...  # ops/ragged/indexing.py
    def __gt__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __invert__(self) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __le__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __lt__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __mod__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __mul__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __ne__(self, other: Any) -> RaggedTensor: ...  # type: ignore[override]  # ops/ragged/operators.py
    def __neg__(self) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __or__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __pow__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __radd__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rand__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rdiv__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rfloordiv__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rmod__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rmul__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __ror__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rpow__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rsub__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rtruediv__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __rxor__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __sub__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __truediv__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py
    def __xor__(self, other: Any) -> RaggedTensor: ...  # ops/ragged/operators.py

class SparseTensorMethods:
    def __div__(self, other: Any) -> SparseTensor: ...  # ops/sparse/dense.py
    def __mul__(self, other: Any) -> SparseTensor: ...  # ops/sparse/dense.py
    def __truediv__(self, other: Any) -> SparseTensor: ...  # ops/sparse/dense.py

class TensorMethods:
    def __abs__(self) -> Tensor: ...  # ops/math/operators.py
    def __add__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __and__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __buffer__(self, flags: int) -> memoryview: ...  # core/tensor.py
    def __complex__(self) -> complex: ...  # core/tensor.py
    def __div__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any: ...  # core/tensor.py
    def __dlpack_device__(self) -> Any: ...  # core/tensor.py
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]  # ops/math/operators.py
    def __float__(self) -> float: ...  # core/tensor.py
    def __floordiv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __ge__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __getitem__(self, key: Any) -> Tensor: ...  # ops/arrays/indexing.py
    def __gt__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __index__(self) -> int: ...  # core/tensor.py
    def __int__(self) -> int: ...  # core/tensor.py
    def __invert__(self) -> Tensor: ...  # ops/math/operators.py
    def __le__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __lt__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __matmul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __mod__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __mul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]  # ops/math/operators.py
    def __neg__(self) -> Tensor: ...  # ops/math/operators.py
    def __or__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __pow__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __radd__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rand__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rdiv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rfloordiv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rmatmul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rmod__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rmul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __ror__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __round__(self, digits: Any = 0) -> Any: ...  # core/tensor.py
    def __rpow__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rsub__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rtruediv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rxor__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __sub__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __tf_tracing_type__(self, context: Any) -> TensorSpec: ...  # core/specs.py
    def __truediv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __xor__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    @property
    def backing_device(self) -> str: ...  # core/tensor.py
    def consumers(self) -> list: ...  # core/tensor.py
    def cpu(self) -> Tensor: ...  # core/tensor.py
    @property
    def device(self) -> str: ...  # core/tensor.py
    def gpu(self, gpu_index: Any = 0) -> Tensor: ...  # core/tensor.py
    @property
    def graph(self) -> Any: ...  # graph/building/symbolic.py
    @property
    def is_tensor_like(self) -> bool: ...  # core/tensor.py
    def numpy(self) -> Any: ...  # core/tensor.py
    op: Any
    value_index: Any

class VariableMethods:
    def __abs__(self) -> Tensor: ...  # ops/math/operators.py
    def __add__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __and__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __div__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]  # ops/math/operators.py
    def __floordiv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __ge__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __gt__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __invert__(self) -> Tensor: ...  # ops/math/operators.py
    def __le__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __lt__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __matmul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __mod__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __mul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]  # ops/math/operators.py
    def __neg__(self) -> Tensor: ...  # ops/math/operators.py
    def __or__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __pow__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __radd__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rand__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rdiv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rfloordiv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rmatmul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rmod__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rmul__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __ror__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rpow__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rsub__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rtruediv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __rxor__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __sub__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __truediv__(self, other: Any) -> Tensor: ...  # ops/math/operators.py
    def __xor__(self, other: Any) -> Tensor: ...  # ops/math/operators.py

class AllCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class ApproxTopK(NamedTuple):
    values: Tensor
    indices: Tensor

class CombinedNonMaxSuppression(NamedTuple):
    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor

class ComputeAccidentalHits(NamedTuple):
    indices: Tensor
    ids: Tensor
    weights: Tensor

class DecodeProtoV2(NamedTuple):
    sizes: Tensor
    values: list[Tensor]

class DecodeWav(NamedTuple):
    audio: Tensor
    sample_rate: Tensor

class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor

class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor

class FixedUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class FractionalAvgPool(NamedTuple):
    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor

class FractionalMaxPool(NamedTuple):
    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor

class GenerateBoundingBoxProposals(NamedTuple):
    rois: Tensor
    roi_probabilities: Tensor

class LearnedUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class ListDiff(NamedTuple):
    out: Tensor
    idx: Tensor

class LogMatrixDeterminant(NamedTuple):
    sign: Tensor
    log_abs_determinant: Tensor

class LogUniformCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class Lu(NamedTuple):
    lu: Tensor
    p: Tensor

class MaxPoolWithArgmax(NamedTuple):
    output: Tensor
    argmax: Tensor

class Qr(NamedTuple):
    q: Tensor
    r: Tensor

class QuantizeV2(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class QuantizedConcat(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class RaggedFillEmptyRows(NamedTuple):
    output_value_rowids: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor

class RaggedFillEmptyRowsGrad(NamedTuple):
    d_values: Tensor
    d_default_value: Tensor

class SampleDistortedBoundingBoxV2(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

class StatelessSampleDistortedBoundingBox(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

class TopKV2(NamedTuple):
    values: Tensor
    indices: Tensor

class UniformCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class Unique(NamedTuple):
    y: Tensor
    idx: Tensor

class UniqueWithCounts(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]
