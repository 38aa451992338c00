"""The public names of `tf.compat.v1`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module
from headrace._src.version import COMPILER_VERSION as __compiler_version__
from headrace._src.version import GIT_VERSION as __git_version__
from headrace._src.version import VERSION as __version__

if TYPE_CHECKING:
    from typing import Any as _Any

    from headrace._src.autodiff.custom_gradient import custom_gradient as custom_gradient
    from headrace._src.autodiff.custom_gradient import grad_pass_through as grad_pass_through
    from headrace._src.autodiff.custom_gradient import recompute_grad as recompute_grad
    from headrace._src.autodiff.gradient_tape import GradientTape as GradientTape
    from headrace._src.autodiff.gradient_tape import UnconnectedGradients as UnconnectedGradients
    from headrace._src.autodiff.registered import AggregationMethod as AggregationMethod
    from headrace._src.autodiff.registered import RegisterGradient as RegisterGradient
    from headrace._src.autodiff.registered import no_gradient as _NoGradient
    from headrace._src.autodiff.registered import no_gradient as _NotDifferentiable
    from headrace._src.autodiff.registered import no_gradient as no_gradient
    from headrace._src.compat.accumulators import ConditionalAccumulator as ConditionalAccumulator
    from headrace._src.compat.accumulators import ConditionalAccumulatorBase as ConditionalAccumulatorBase
    from headrace._src.compat.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
    from headrace._src.compat.behavior import control_flow_v2_enabled as control_flow_v2_enabled
    from headrace._src.compat.behavior import disable_control_flow_v2 as disable_control_flow_v2
    from headrace._src.compat.behavior import disable_eager_execution as disable_eager_execution
    from headrace._src.compat.behavior import disable_resource_variables as disable_resource_variables
    from headrace._src.compat.behavior import disable_tensor_equality as disable_tensor_equality
    from headrace._src.compat.behavior import disable_v2_behavior as disable_v2_behavior
    from headrace._src.compat.behavior import disable_v2_tensorshape as disable_v2_tensorshape
    from headrace._src.compat.behavior import enable_control_flow_v2 as enable_control_flow_v2
    from headrace._src.compat.behavior import enable_eager_execution as enable_eager_execution
    from headrace._src.compat.behavior import enable_resource_variables as enable_resource_variables
    from headrace._src.compat.behavior import enable_tensor_equality as enable_tensor_equality
    from headrace._src.compat.behavior import enable_v2_behavior as enable_v2_behavior
    from headrace._src.compat.behavior import enable_v2_tensorshape as enable_v2_tensorshape
    from headrace._src.compat.behavior import executing_eagerly_outside_functions as executing_eagerly_outside_functions
    from headrace._src.compat.behavior import get_default_graph as get_default_graph
    from headrace._src.compat.behavior import reset_default_graph as reset_default_graph
    from headrace._src.compat.behavior import resource_variables_enabled as resource_variables_enabled
    from headrace._src.compat.functions.arrays import batch_gather as batch_gather
    from headrace._src.compat.functions.arrays import batch_to_space as batch_to_space
    from headrace._src.compat.functions.arrays import batch_to_space_nd as batch_to_space_nd
    from headrace._src.compat.functions.arrays import boolean_mask as boolean_mask
    from headrace._src.compat.functions.arrays import constant as constant
    from headrace._src.compat.functions.arrays import convert_to_tensor as convert_to_tensor
    from headrace._src.compat.functions.arrays import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
    from headrace._src.compat.functions.arrays import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
    from headrace._src.compat.functions.arrays import depth_to_space as depth_to_space
    from headrace._src.compat.functions.arrays import expand_dims as expand_dims
    from headrace._src.compat.functions.arrays import gather as gather
    from headrace._src.compat.functions.arrays import gather_nd as gather_nd
    from headrace._src.compat.functions.arrays import get_seed as get_seed
    from headrace._src.compat.functions.arrays import ones_like as ones_like
    from headrace._src.compat.functions.arrays import pad as pad
    from headrace._src.compat.functions.arrays import quantize_v2 as quantize_v2
    from headrace._src.compat.functions.arrays import reduce_join as reduce_join
    from headrace._src.compat.functions.arrays import reverse_sequence as reverse_sequence
    from headrace._src.compat.functions.arrays import set_random_seed as set_random_seed
    from headrace._src.compat.functions.arrays import setdiff1d as setdiff1d
    from headrace._src.compat.functions.arrays import shape as shape
    from headrace._src.compat.functions.arrays import size as size
    from headrace._src.compat.functions.arrays import space_to_batch as space_to_batch
    from headrace._src.compat.functions.arrays import space_to_depth as space_to_depth
    from headrace._src.compat.functions.arrays import sparse_add as sparse_add
    from headrace._src.compat.functions.arrays import sparse_concat as sparse_concat
    from headrace._src.compat.functions.arrays import sparse_reduce_max as sparse_reduce_max
    from headrace._src.compat.functions.arrays import sparse_reduce_max_sparse as sparse_reduce_max_sparse
    from headrace._src.compat.functions.arrays import sparse_reduce_sum as sparse_reduce_sum
    from headrace._src.compat.functions.arrays import sparse_reduce_sum_sparse as sparse_reduce_sum_sparse
    from headrace._src.compat.functions.arrays import sparse_segment_mean as sparse_segment_mean
    from headrace._src.compat.functions.arrays import sparse_segment_sqrt_n as sparse_segment_sqrt_n
    from headrace._src.compat.functions.arrays import sparse_segment_sum as sparse_segment_sum
    from headrace._src.compat.functions.arrays import sparse_split as sparse_split
    from headrace._src.compat.functions.arrays import sparse_to_dense as sparse_to_dense
    from headrace._src.compat.functions.arrays import squeeze as squeeze
    from headrace._src.compat.functions.arrays import string_split as string_split
    from headrace._src.compat.functions.arrays import string_to_hash_bucket as string_to_hash_bucket
    from headrace._src.compat.functions.arrays import string_to_number as string_to_number
    from headrace._src.compat.functions.arrays import substr as substr
    from headrace._src.compat.functions.arrays import transpose as transpose
    from headrace._src.compat.functions.arrays import where as where
    from headrace._src.compat.functions.arrays import zeros_like as zeros_like
    from headrace._src.compat.functions.control_flow import Print as Print
    from headrace._src.compat.functions.control_flow import case as case
    from headrace._src.compat.functions.control_flow import colocate_with as colocate_with
    from headrace._src.compat.functions.control_flow import cond as cond
    from headrace._src.compat.functions.control_flow import container as container
    from headrace._src.compat.functions.control_flow import device as device
    from headrace._src.compat.functions.control_flow import gradients as gradients
    from headrace._src.compat.functions.control_flow import hessians as hessians
    from headrace._src.compat.functions.control_flow import name_scope as name_scope
    from headrace._src.compat.functions.control_flow import op_scope as op_scope
    from headrace._src.compat.functions.control_flow import tuple_ as _tuple
    from headrace._src.compat.functions.control_flow import while_loop as while_loop
    from headrace._src.compat.functions.control_flow import wrap_function as wrap_function
    from headrace._src.compat.functions.images import extract_image_patches as extract_image_patches
    from headrace._src.compat.functions.mathematics import arg_max as arg_max
    from headrace._src.compat.functions.mathematics import arg_min as arg_min
    from headrace._src.compat.functions.mathematics import argmax as argmax
    from headrace._src.compat.functions.mathematics import argmin as argmin
    from headrace._src.compat.functions.mathematics import assert_equal as assert_equal
    from headrace._src.compat.functions.mathematics import assert_greater as assert_greater
    from headrace._src.compat.functions.mathematics import assert_greater_equal as assert_greater_equal
    from headrace._src.compat.functions.mathematics import assert_integer as assert_integer
    from headrace._src.compat.functions.mathematics import assert_less as assert_less
    from headrace._src.compat.functions.mathematics import assert_less_equal as assert_less_equal
    from headrace._src.compat.functions.mathematics import assert_near as assert_near
    from headrace._src.compat.functions.mathematics import assert_negative as assert_negative
    from headrace._src.compat.functions.mathematics import assert_non_negative as assert_non_negative
    from headrace._src.compat.functions.mathematics import assert_non_positive as assert_non_positive
    from headrace._src.compat.functions.mathematics import assert_none_equal as assert_none_equal
    from headrace._src.compat.functions.mathematics import assert_positive as assert_positive
    from headrace._src.compat.functions.mathematics import assert_rank as assert_rank
    from headrace._src.compat.functions.mathematics import assert_rank_at_least as assert_rank_at_least
    from headrace._src.compat.functions.mathematics import assert_rank_in as assert_rank_in
    from headrace._src.compat.functions.mathematics import assert_scalar as assert_scalar
    from headrace._src.compat.functions.mathematics import assert_type as assert_type
    from headrace._src.compat.functions.mathematics import bincount as bincount
    from headrace._src.compat.functions.mathematics import confusion_matrix as confusion_matrix
    from headrace._src.compat.functions.mathematics import count_nonzero as count_nonzero
    from headrace._src.compat.functions.mathematics import div as _floor_div
    from headrace._src.compat.functions.mathematics import div as div
    from headrace._src.compat.functions.mathematics import multinomial as multinomial
    from headrace._src.compat.functions.mathematics import norm as norm
    from headrace._src.compat.functions.mathematics import random_poisson as random_poisson
    from headrace._src.compat.functions.mathematics import reduce_all as reduce_all
    from headrace._src.compat.functions.mathematics import reduce_any as reduce_any
    from headrace._src.compat.functions.mathematics import reduce_logsumexp as reduce_logsumexp
    from headrace._src.compat.functions.mathematics import reduce_max as reduce_max
    from headrace._src.compat.functions.mathematics import reduce_mean as reduce_mean
    from headrace._src.compat.functions.mathematics import reduce_min as reduce_min
    from headrace._src.compat.functions.mathematics import reduce_prod as reduce_prod
    from headrace._src.compat.functions.mathematics import reduce_sum as reduce_sum
    from headrace._src.compat.functions.mathematics import sparse_matmul as sparse_matmul
    from headrace._src.compat.functions.mathematics import to_bfloat16 as to_bfloat16
    from headrace._src.compat.functions.mathematics import to_complex128 as to_complex128
    from headrace._src.compat.functions.mathematics import to_complex64 as to_complex64
    from headrace._src.compat.functions.mathematics import to_double as to_double
    from headrace._src.compat.functions.mathematics import to_float as to_float
    from headrace._src.compat.functions.mathematics import to_int32 as to_int32
    from headrace._src.compat.functions.mathematics import to_int64 as to_int64
    from headrace._src.compat.functions.mathematics import verify_tensor_all_finite as verify_tensor_all_finite
    from headrace._src.compat.functions.numerics_checks import add_check_numerics_ops as add_check_numerics_ops
    from headrace._src.compat.functions.parsing import decode_csv as decode_csv
    from headrace._src.compat.functions.parsing import decode_raw as decode_raw
    from headrace._src.compat.functions.parsing import parse_example as parse_example
    from headrace._src.compat.functions.parsing import parse_single_example as parse_single_example
    from headrace._src.compat.functions.parsing import serialize_many_sparse_first as _serialize_many_sparse
    from headrace._src.compat.functions.parsing import serialize_sparse_first as _serialize_sparse
    from headrace._src.compat.functions.sparse_values import sparse_merge as sparse_merge
    from headrace._src.compat.graph_keys import GraphKeys as GraphKeys
    from headrace._src.compat.graph_keys import add_to_collection as add_to_collection
    from headrace._src.compat.graph_keys import add_to_collections as add_to_collections
    from headrace._src.compat.graph_keys import all_variables as all_variables
    from headrace._src.compat.graph_keys import assert_variables_initialized as assert_variables_initialized
    from headrace._src.compat.graph_keys import get_collection as get_collection
    from headrace._src.compat.graph_keys import get_collection_ref as get_collection_ref
    from headrace._src.compat.graph_keys import global_variables as global_variables
    from headrace._src.compat.graph_keys import global_variables_initializer as global_variables_initializer
    from headrace._src.compat.graph_keys import initialize_all_variables as initialize_all_variables
    from headrace._src.compat.graph_keys import initialize_local_variables as initialize_local_variables
    from headrace._src.compat.graph_keys import initialize_variables as initialize_variables
    from headrace._src.compat.graph_keys import is_variable_initialized as is_variable_initialized
    from headrace._src.compat.graph_keys import local_variables as local_variables
    from headrace._src.compat.graph_keys import local_variables_initializer as local_variables_initializer
    from headrace._src.compat.graph_keys import model_variables as model_variables
    from headrace._src.compat.graph_keys import moving_average_variables as moving_average_variables
    from headrace._src.compat.graph_keys import report_uninitialized_variables as report_uninitialized_variables
    from headrace._src.compat.graph_keys import tables_initializer as _initialize_all_tables
    from headrace._src.compat.graph_keys import tables_initializer as tables_initializer
    from headrace._src.compat.graph_keys import trainable_variables as trainable_variables
    from headrace._src.compat.graph_keys import variables_initializer as variables_initializer
    from headrace._src.compat.input.readers import FixedLengthRecordReader as FixedLengthRecordReader
    from headrace._src.compat.input.readers import IdentityReader as IdentityReader
    from headrace._src.compat.input.readers import LMDBReader as LMDBReader
    from headrace._src.compat.input.readers import ReaderBase as ReaderBase
    from headrace._src.compat.input.readers import TFRecordReader as TFRecordReader
    from headrace._src.compat.input.readers import TextLineReader as TextLineReader
    from headrace._src.compat.input.readers import WholeFileReader as WholeFileReader
    from headrace._src.compat.sessions.options import ConfigProto as ConfigProto
    from headrace._src.compat.sessions.options import GPUOptions as GPUOptions
    from headrace._src.compat.sessions.options import GraphOptions as GraphOptions
    from headrace._src.compat.sessions.options import OptimizerOptions as OptimizerOptions
    from headrace._src.compat.sessions.options import RunOptions as RunOptions
    from headrace._src.compat.sessions.session import InteractiveSession as InteractiveSession
    from headrace._src.compat.sessions.session import Session as Session
    from headrace._src.compat.sessions.session import get_default_session as get_default_session
    from headrace._src.compat.sessions.session import placeholder as placeholder
    from headrace._src.compat.sessions.session import placeholder_with_default as placeholder_with_default
    from headrace._src.compat.sessions.session import sparse_placeholder as sparse_placeholder
    from headrace._src.compat.sessions.session_handles import delete_session_tensor as delete_session_tensor
    from headrace._src.compat.sessions.session_handles import get_session_handle as get_session_handle
    from headrace._src.compat.sessions.session_handles import get_session_tensor as get_session_tensor
    from headrace._src.compat.variables.initializers import Constant as _constant_initializer
    from headrace._src.compat.variables.initializers import GlorotNormal as _glorot_normal_initializer
    from headrace._src.compat.variables.initializers import GlorotUniform as _glorot_uniform_initializer
    from headrace._src.compat.variables.initializers import Ones as _ones_initializer
    from headrace._src.compat.variables.initializers import Orthogonal as _orthogonal_initializer
    from headrace._src.compat.variables.initializers import RandomNormal as _random_normal_initializer
    from headrace._src.compat.variables.initializers import RandomUniform as _random_uniform_initializer
    from headrace._src.compat.variables.initializers import TruncatedNormal as _truncated_normal_initializer
    from headrace._src.compat.variables.initializers import UniformUnitScaling as _uniform_unit_scaling_initializer
    from headrace._src.compat.variables.initializers import VarianceScaling as _variance_scaling_initializer
    from headrace._src.compat.variables.initializers import Zeros as _zeros_initializer
    from headrace._src.compat.variables.partitioners import create_partitioned_variables as create_partitioned_variables
    from headrace._src.compat.variables.partitioners import fixed_size_partitioner as fixed_size_partitioner
    from headrace._src.compat.variables.partitioners import min_max_variable_partitioner as min_max_variable_partitioner
    from headrace._src.compat.variables.partitioners import variable_axis_size_partitioner as variable_axis_size_partitioner
    from headrace._src.compat.variables.scopes import AUTO_REUSE as AUTO_REUSE
    from headrace._src.compat.variables.scopes import VariableScope as VariableScope
    from headrace._src.compat.variables.scopes import get_local_variable as get_local_variable
    from headrace._src.compat.variables.scopes import get_variable as get_variable
    from headrace._src.compat.variables.scopes import get_variable_scope as get_variable_scope
    from headrace._src.compat.variables.scopes import no_regularizer as no_regularizer
    from headrace._src.compat.variables.scopes import variable_op_scope as variable_op_scope
    from headrace._src.compat.variables.scopes import variable_scope as variable_scope
    from headrace._src.compat.variables.templates import make_template as make_template
    from headrace._src.compat.variables.variables import VariableV1 as _Variable
    from headrace._src.compat.variables.variables import assign as assign
    from headrace._src.compat.variables.variables import assign_add as assign_add
    from headrace._src.compat.variables.variables import assign_sub as assign_sub
    from headrace._src.compat.variables.variables import batch_scatter_update as batch_scatter_update
    from headrace._src.compat.variables.variables import count_up_to as count_up_to
    from headrace._src.compat.variables.variables import scatter_add as scatter_add
    from headrace._src.compat.variables.variables import scatter_div as scatter_div
    from headrace._src.compat.variables.variables import scatter_max as scatter_max
    from headrace._src.compat.variables.variables import scatter_min as scatter_min
    from headrace._src.compat.variables.variables import scatter_mul as scatter_mul
    from headrace._src.compat.variables.variables import scatter_nd_add as scatter_nd_add
    from headrace._src.compat.variables.variables import scatter_nd_sub as scatter_nd_sub
    from headrace._src.compat.variables.variables import scatter_nd_update as scatter_nd_update
    from headrace._src.compat.variables.variables import scatter_sub as scatter_sub
    from headrace._src.compat.variables.variables import scatter_update as scatter_update
    from headrace._src.compat.variables.variables import variable_creator_scope as variable_creator_scope
    from headrace._src.core.context import executing_eagerly as executing_eagerly
    from headrace._src.core.devices import MutableDeviceSpec as _DeviceSpec
    from headrace._src.core.dtypes import DType as DType
    from headrace._src.core.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
    from headrace._src.core.dtypes import as_dtype as as_dtype
    from headrace._src.core.dtypes import bfloat16 as bfloat16
    from headrace._src.core.dtypes import bool as bool
    from headrace._src.core.dtypes import complex128 as complex128
    from headrace._src.core.dtypes import complex64 as complex64
    from headrace._src.core.dtypes import double as double
    from headrace._src.core.dtypes import float16 as float16
    from headrace._src.core.dtypes import float32 as float32
    from headrace._src.core.dtypes import float64 as float64
    from headrace._src.core.dtypes import half as half
    from headrace._src.core.dtypes import int16 as int16
    from headrace._src.core.dtypes import int32 as int32
    from headrace._src.core.dtypes import int64 as int64
    from headrace._src.core.dtypes import int8 as int8
    from headrace._src.core.dtypes import qint16 as qint16
    from headrace._src.core.dtypes import qint32 as qint32
    from headrace._src.core.dtypes import qint8 as qint8
    from headrace._src.core.dtypes import quint16 as quint16
    from headrace._src.core.dtypes import quint8 as quint8
    from headrace._src.core.dtypes import resource as resource
    from headrace._src.core.dtypes import string as string
    from headrace._src.core.dtypes import uint16 as uint16
    from headrace._src.core.dtypes import uint32 as uint32
    from headrace._src.core.dtypes import uint64 as uint64
    from headrace._src.core.dtypes import uint8 as uint8
    from headrace._src.core.dtypes import variant as variant
    from headrace._src.core.errors import OpError as OpError
    from headrace._src.core.shapes import Dimension as Dimension
    from headrace._src.core.shapes import TensorShape as TensorShape
    from headrace._src.core.shapes import broadcast_static_shape as broadcast_static_shape
    from headrace._src.core.shapes import dimension_at_index as dimension_at_index
    from headrace._src.core.shapes import dimension_value as dimension_value
    from headrace._src.core.specs import NoneTensorSpec as NoneTensorSpec
    from headrace._src.core.specs import TensorSpec as TensorSpec
    from headrace._src.core.tensor import Tensor as Tensor
    from headrace._src.core.tensor import is_tensor as is_tensor
    from headrace._src.core.type_specs import TypeSpec as TypeSpec
    from headrace._src.core.type_specs import type_spec_from_value as type_spec_from_value
    from headrace._src.data.running.optionals import OptionalSpec as OptionalSpec
    from headrace._src.formats.event_messages import Event as Event
    from headrace._src.formats.event_messages import HistogramProto as HistogramProto
    from headrace._src.formats.event_messages import LogMessage as LogMessage
    from headrace._src.formats.event_messages import RunMetadata as RunMetadata
    from headrace._src.formats.event_messages import SessionLog as SessionLog
    from headrace._src.formats.event_messages import Summary as Summary
    from headrace._src.formats.event_messages import SummaryMetadata as SummaryMetadata
    from headrace._src.formats.graph_messages import AttrValue as AttrValue
    from headrace._src.formats.graph_messages import GraphDef as GraphDef
    from headrace._src.formats.graph_messages import NameAttrList as NameAttrList
    from headrace._src.formats.graph_messages import NodeDef as NodeDef
    from headrace._src.formats.model_messages import MetaGraphDef as MetaGraphDef
    from headrace._src.formats.model_messages import TensorInfo as TensorInfo
    from headrace._src.graph.building.dependencies import control_dependencies as control_dependencies
    from headrace._src.graph.building.dependencies import group as group
    from headrace._src.graph.building.graph import Graph as Graph
    from headrace._src.graph.building.operation import Operation as Operation
    from headrace._src.graph.building.variable_creation import init_scope as init_scope
    from headrace._src.graph.control.conditional import switch_case as switch_case
    from headrace._src.graph.control.folding import foldl as foldl
    from headrace._src.graph.control.folding import foldr as foldr
    from headrace._src.graph.control.folding import scan as scan
    from headrace._src.graph.control.map_fn import map_fn as map_fn
    from headrace._src.graph.control.python_functions import numpy_function as numpy_function
    from headrace._src.graph.control.python_functions import py_func as py_func
    from headrace._src.graph.control.python_functions import py_function as py_function
    from headrace._src.graph.messages.graph_import import import_graph_def as import_graph_def
    from headrace._src.graph.vectorizing.vectorized_map import vectorized_map as vectorized_map
    from headrace._src.op.convert import register_tensor_conversion_function as register_tensor_conversion_function
    from headrace._src.ops.arrays.approximate_ranking import approx_top_k as approx_top_k
    from headrace._src.ops.arrays.box_slices import slice_ as _slice
    from headrace._src.ops.arrays.broadcasting import broadcast_dynamic_shape as broadcast_dynamic_shape
    from headrace._src.ops.arrays.broadcasting import broadcast_to as broadcast_to
    from headrace._src.ops.arrays.casting import bitcast as bitcast
    from headrace._src.ops.arrays.casting import cast as cast
    from headrace._src.ops.arrays.casting import saturate_cast as saturate_cast
    from headrace._src.ops.arrays.constants import ones as ones
    from headrace._src.ops.arrays.constants import zeros as zeros
    from headrace._src.ops.arrays.filling import fill as fill
    from headrace._src.ops.arrays.filling import one_hot as one_hot
    from headrace._src.ops.arrays.filling import range_ as _range
    from headrace._src.ops.arrays.filling import sequence_mask as sequence_mask
    from headrace._src.ops.arrays.indexed_slices import IndexedSlices as IndexedSlices
    from headrace._src.ops.arrays.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
    from headrace._src.ops.arrays.joining import concat as concat
    from headrace._src.ops.arrays.joining import parallel_stack as parallel_stack
    from headrace._src.ops.arrays.joining import stack as stack
    from headrace._src.ops.arrays.joining import unstack as unstack
    from headrace._src.ops.arrays.measuring import get_static_value as get_static_value
    from headrace._src.ops.arrays.measuring import rank as rank
    from headrace._src.ops.arrays.measuring import shape_n as shape_n
    from headrace._src.ops.arrays.partitioning import dynamic_partition as dynamic_partition
    from headrace._src.ops.arrays.partitioning import dynamic_stitch as dynamic_stitch
    from headrace._src.ops.arrays.partitioning import unique as unique
    from headrace._src.ops.arrays.partitioning import unique_with_counts as unique_with_counts
    from headrace._src.ops.arrays.passing import check_pinned as check_pinned
    from headrace._src.ops.arrays.passing import guarantee_const as guarantee_const
    from headrace._src.ops.arrays.passing import identity as identity
    from headrace._src.ops.arrays.passing import identity_n as identity_n
    from headrace._src.ops.arrays.passing import no_op as no_op
    from headrace._src.ops.arrays.passing import stop_gradient as stop_gradient
    from headrace._src.ops.arrays.passing import timestamp as timestamp
    from headrace._src.ops.arrays.rearranging import invert_permutation as invert_permutation
    from headrace._src.ops.arrays.rearranging import reverse as _reverse_v2
    from headrace._src.ops.arrays.rearranging import reverse as reverse
    from headrace._src.ops.arrays.rearranging import roll as roll
    from headrace._src.ops.arrays.scattering import scatter_nd as scatter_nd
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_add as _tensor_scatter_add
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_add as tensor_scatter_nd_add
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_max as tensor_scatter_nd_max
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_min as tensor_scatter_nd_min
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_sub as _tensor_scatter_sub
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_sub as tensor_scatter_nd_sub
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_update as _tensor_scatter_update
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_update as tensor_scatter_nd_update
    from headrace._src.ops.arrays.searching import searchsorted as searchsorted
    from headrace._src.ops.arrays.searching import unravel_index as unravel_index
    from headrace._src.ops.arrays.selecting import where as _where_v2
    from headrace._src.ops.arrays.shaping import ensure_shape as ensure_shape
    from headrace._src.ops.arrays.shaping import reshape as reshape
    from headrace._src.ops.arrays.slicing import strided_slice as strided_slice
    from headrace._src.ops.arrays.sorting import argsort as argsort
    from headrace._src.ops.arrays.sorting import sort as sort
    from headrace._src.ops.arrays.spacing import linspace as _lin_space
    from headrace._src.ops.arrays.spacing import linspace as linspace
    from headrace._src.ops.arrays.splitting import meshgrid as meshgrid
    from headrace._src.ops.arrays.splitting import repeat as repeat
    from headrace._src.ops.arrays.splitting import split as split
    from headrace._src.ops.arrays.splitting import tile as tile
    from headrace._src.ops.debugging.assertions import Assert as Assert
    from headrace._src.ops.debugging.numerics_checks import check_numerics as check_numerics
    from headrace._src.ops.debugging.printing import print_ as _print
    from headrace._src.ops.debugging.static_assertions import assert_proper_iterable as assert_proper_iterable
    from headrace._src.ops.debugging.static_assertions import assert_same_float_dtype as assert_same_float_dtype
    from headrace._src.ops.debugging.static_assertions import is_numeric_tensor as is_numeric_tensor
    from headrace._src.ops.images.sampling import random_crop as random_crop
    from headrace._src.ops.linalg.decompositions import cholesky as cholesky
    from headrace._src.ops.linalg.decompositions import eigh as _self_adjoint_eig
    from headrace._src.ops.linalg.decompositions import eigvalsh as _self_adjoint_eigvals
    from headrace._src.ops.linalg.decompositions import qr as qr
    from headrace._src.ops.linalg.diagonals import diag as _matrix_diag
    from headrace._src.ops.linalg.diagonals import diag_part as _matrix_diag_part
    from headrace._src.ops.linalg.diagonals import set_diag as _matrix_set_diag
    from headrace._src.ops.linalg.diagonals import tensor_diag as _diag
    from headrace._src.ops.linalg.diagonals import tensor_diag_part as _diag_part
    from headrace._src.ops.linalg.einsum import einsum as einsum
    from headrace._src.ops.linalg.einsum import tensordot as tensordot
    from headrace._src.ops.linalg.matmul import matmul as matmul
    from headrace._src.ops.linalg.matrices import band_part as _matrix_band_part
    from headrace._src.ops.linalg.matrices import cross as cross
    from headrace._src.ops.linalg.matrices import eye as eye
    from headrace._src.ops.linalg.matrices import matrix_transpose as matrix_transpose
    from headrace._src.ops.linalg.matrices import trace as trace
    from headrace._src.ops.linalg.matrix_functions import sqrtm as _matrix_square_root
    from headrace._src.ops.linalg.singular_values import svd as svd
    from headrace._src.ops.linalg.solving import cholesky_solve as cholesky_solve
    from headrace._src.ops.linalg.solving import det as _matrix_determinant
    from headrace._src.ops.linalg.solving import inv as _matrix_inverse
    from headrace._src.ops.linalg.solving import lstsq as _matrix_solve_ls
    from headrace._src.ops.linalg.solving import solve as _matrix_solve
    from headrace._src.ops.linalg.solving import triangular_solve as _matrix_triangular_solve
    from headrace._src.ops.math.arithmetic import accumulate_n as accumulate_n
    from headrace._src.ops.math.arithmetic import add as add
    from headrace._src.ops.math.arithmetic import add_n as add_n
    from headrace._src.ops.math.arithmetic import maximum as maximum
    from headrace._src.ops.math.arithmetic import minimum as minimum
    from headrace._src.ops.math.arithmetic import multiply as multiply
    from headrace._src.ops.math.arithmetic import negative as negative
    from headrace._src.ops.math.arithmetic import scalar_mul as scalar_mul
    from headrace._src.ops.math.arithmetic import squared_difference as squared_difference
    from headrace._src.ops.math.arithmetic import subtract as subtract
    from headrace._src.ops.math.bincounts import histogram_fixed_width as histogram_fixed_width
    from headrace._src.ops.math.bincounts import histogram_fixed_width_bins as histogram_fixed_width_bins
    from headrace._src.ops.math.clipping import clip_by_average_norm as clip_by_average_norm
    from headrace._src.ops.math.clipping import clip_by_global_norm as clip_by_global_norm
    from headrace._src.ops.math.clipping import clip_by_norm as clip_by_norm
    from headrace._src.ops.math.clipping import clip_by_value as clip_by_value
    from headrace._src.ops.math.clipping import global_norm as global_norm
    from headrace._src.ops.math.comparison import equal as equal
    from headrace._src.ops.math.comparison import greater as greater
    from headrace._src.ops.math.comparison import greater_equal as greater_equal
    from headrace._src.ops.math.comparison import less as less
    from headrace._src.ops.math.comparison import less_equal as less_equal
    from headrace._src.ops.math.comparison import logical_and as logical_and
    from headrace._src.ops.math.comparison import logical_not as logical_not
    from headrace._src.ops.math.comparison import logical_or as logical_or
    from headrace._src.ops.math.comparison import logical_xor as logical_xor
    from headrace._src.ops.math.comparison import not_equal as not_equal
    from headrace._src.ops.math.complex_numbers import angle as angle
    from headrace._src.ops.math.complex_numbers import complex as complex
    from headrace._src.ops.math.complex_numbers import conj as conj
    from headrace._src.ops.math.complex_numbers import imag as imag
    from headrace._src.ops.math.complex_numbers import real as real
    from headrace._src.ops.math.cumulative import cumprod as cumprod
    from headrace._src.ops.math.cumulative import cumsum as cumsum
    from headrace._src.ops.math.division import divide as divide
    from headrace._src.ops.math.division import divide_no_nan as _div_no_nan
    from headrace._src.ops.math.division import floordiv as floordiv
    from headrace._src.ops.math.division import floormod as _mod
    from headrace._src.ops.math.division import floormod as floormod
    from headrace._src.ops.math.division import realdiv as realdiv
    from headrace._src.ops.math.division import truediv as truediv
    from headrace._src.ops.math.division import truncatediv as truncatediv
    from headrace._src.ops.math.division import truncatemod as truncatemod
    from headrace._src.ops.math.elementwise import abs as abs
    from headrace._src.ops.math.elementwise import ceil as ceil
    from headrace._src.ops.math.elementwise import exp as exp
    from headrace._src.ops.math.elementwise import expm1 as expm1
    from headrace._src.ops.math.elementwise import floor as floor
    from headrace._src.ops.math.elementwise import is_finite as is_finite
    from headrace._src.ops.math.elementwise import is_inf as is_inf
    from headrace._src.ops.math.elementwise import is_nan as is_nan
    from headrace._src.ops.math.elementwise import log as log
    from headrace._src.ops.math.elementwise import log1p as log1p
    from headrace._src.ops.math.elementwise import reciprocal as reciprocal
    from headrace._src.ops.math.elementwise import rint as rint
    from headrace._src.ops.math.elementwise import round as round
    from headrace._src.ops.math.elementwise import rsqrt as rsqrt
    from headrace._src.ops.math.elementwise import sigmoid as sigmoid
    from headrace._src.ops.math.elementwise import sign as sign
    from headrace._src.ops.math.elementwise import sqrt as sqrt
    from headrace._src.ops.math.elementwise import square as square
    from headrace._src.ops.math.elementwise import tanh as tanh
    from headrace._src.ops.math.powers import atan2 as atan2
    from headrace._src.ops.math.powers import pow as pow
    from headrace._src.ops.math.segments import segment_max as segment_max
    from headrace._src.ops.math.segments import segment_mean as segment_mean
    from headrace._src.ops.math.segments import segment_min as segment_min
    from headrace._src.ops.math.segments import segment_prod as segment_prod
    from headrace._src.ops.math.segments import segment_sum as segment_sum
    from headrace._src.ops.math.special import betainc as betainc
    from headrace._src.ops.math.special import digamma as digamma
    from headrace._src.ops.math.special import erf as erf
    from headrace._src.ops.math.special import erfc as erfc
    from headrace._src.ops.math.special import igamma as igamma
    from headrace._src.ops.math.special import igammac as igammac
    from headrace._src.ops.math.special import lbeta as lbeta
    from headrace._src.ops.math.special import lgamma as lgamma
    from headrace._src.ops.math.special import polygamma as polygamma
    from headrace._src.ops.math.special import zeta as zeta
    from headrace._src.ops.math.statistics import is_non_decreasing as is_non_decreasing
    from headrace._src.ops.math.statistics import is_strictly_increasing as is_strictly_increasing
    from headrace._src.ops.math.trigonometry import acos as acos
    from headrace._src.ops.math.trigonometry import acosh as acosh
    from headrace._src.ops.math.trigonometry import asin as asin
    from headrace._src.ops.math.trigonometry import asinh as asinh
    from headrace._src.ops.math.trigonometry import atan as atan
    from headrace._src.ops.math.trigonometry import atanh as atanh
    from headrace._src.ops.math.trigonometry import cos as cos
    from headrace._src.ops.math.trigonometry import cosh as cosh
    from headrace._src.ops.math.trigonometry import sin as sin
    from headrace._src.ops.math.trigonometry import sinh as sinh
    from headrace._src.ops.math.trigonometry import tan as tan
    from headrace._src.ops.math.unsorted_segments import unsorted_segment_max as unsorted_segment_max
    from headrace._src.ops.math.unsorted_segments import unsorted_segment_mean as unsorted_segment_mean
    from headrace._src.ops.math.unsorted_segments import unsorted_segment_min as unsorted_segment_min
    from headrace._src.ops.math.unsorted_segments import unsorted_segment_prod as unsorted_segment_prod
    from headrace._src.ops.math.unsorted_segments import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
    from headrace._src.ops.math.unsorted_segments import unsorted_segment_sum as unsorted_segment_sum
    from headrace._src.ops.nn.activations import log_sigmoid as log_sigmoid
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_args as fake_quant_with_min_max_args
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
    from headrace._src.ops.nn.quantization import dequantize as dequantize
    from headrace._src.ops.nn.quantization import quantize as quantize
    from headrace._src.ops.nn.quantization import quantized_concat as quantized_concat
    from headrace._src.ops.parsing.features import FixedLenFeature as FixedLenFeature
    from headrace._src.ops.parsing.features import FixedLenSequenceFeature as FixedLenSequenceFeature
    from headrace._src.ops.parsing.features import SparseFeature as SparseFeature
    from headrace._src.ops.parsing.features import VarLenFeature as VarLenFeature
    from headrace._src.ops.parsing.file_ops import decode_compressed as decode_compressed
    from headrace._src.ops.parsing.file_ops import matching_files as matching_files
    from headrace._src.ops.parsing.file_ops import read_file as read_file
    from headrace._src.ops.parsing.file_ops import write_file as write_file
    from headrace._src.ops.parsing.proto_functions import make_ndarray as make_ndarray
    from headrace._src.ops.parsing.proto_functions import make_tensor_proto as make_tensor_proto
    from headrace._src.ops.parsing.sequences import parse_single_sequence_example as parse_single_sequence_example
    from headrace._src.ops.parsing.tensors import decode_json_example as decode_json_example
    from headrace._src.ops.parsing.tensors import parse_tensor as parse_tensor
    from headrace._src.ops.parsing.tensors import serialize_tensor as serialize_tensor
    from headrace._src.ops.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
    from headrace._src.ops.ragged.tensor import RaggedTensor as RaggedTensor
    from headrace._src.ops.random.distributions import gamma as _random_gamma
    from headrace._src.ops.random.shuffling import random_index_shuffle as random_index_shuffle
    from headrace._src.ops.random.shuffling import shuffle as _random_shuffle
    from headrace._src.ops.random.uniform_and_normal import normal as _random_normal
    from headrace._src.ops.random.uniform_and_normal import truncated_normal as truncated_normal
    from headrace._src.ops.random.uniform_and_normal import uniform as _random_uniform
    from headrace._src.ops.signal.fourier import fft as fft
    from headrace._src.ops.signal.fourier import fft2d as fft2d
    from headrace._src.ops.signal.fourier import fft3d as fft3d
    from headrace._src.ops.signal.fourier import ifft as ifft
    from headrace._src.ops.signal.fourier import ifft2d as ifft2d
    from headrace._src.ops.signal.fourier import ifft3d as ifft3d
    from headrace._src.ops.signal.fourier_nd import fftnd_op as _fftnd
    from headrace._src.ops.signal.fourier_nd import ifftnd_op as _ifftnd
    from headrace._src.ops.signal.fourier_nd import irfftnd_op as _irfftnd
    from headrace._src.ops.signal.fourier_nd import rfftnd_op as _rfftnd
    from headrace._src.ops.sparse.arithmetic import mask as _sparse_mask
    from headrace._src.ops.sparse.arithmetic import maximum as _sparse_maximum
    from headrace._src.ops.sparse.arithmetic import minimum as _sparse_minimum
    from headrace._src.ops.sparse.arranging import reorder as _sparse_reorder
    from headrace._src.ops.sparse.arranging import reset_shape as _sparse_reset_shape
    from headrace._src.ops.sparse.arranging import reshape as _sparse_reshape
    from headrace._src.ops.sparse.arranging import retain as _sparse_retain
    from headrace._src.ops.sparse.arranging import transpose as _sparse_transpose
    from headrace._src.ops.sparse.dense import to_dense as _sparse_tensor_to_dense
    from headrace._src.ops.sparse.dense import to_indicator as _sparse_to_indicator
    from headrace._src.ops.sparse.edit_distance import edit_distance as edit_distance
    from headrace._src.ops.sparse.joining import slice as _sparse_slice
    from headrace._src.ops.sparse.matmul import sparse_dense_matmul as _sparse_tensor_dense_matmul
    from headrace._src.ops.sparse.reductions import softmax as _sparse_softmax
    from headrace._src.ops.sparse.rows import fill_empty_rows as _sparse_fill_empty_rows
    from headrace._src.ops.sparse.rows import ragged_fill_empty_rows as ragged_fill_empty_rows
    from headrace._src.ops.sparse.rows import ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
    from headrace._src.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
    from headrace._src.ops.sparse.tensor import SparseTensor as SparseTensor
    from headrace._src.ops.sparse.tensor import SparseTensorSpec as SparseTensorSpec
    from headrace._src.ops.sparse.tensor import SparseTensorValue as SparseTensorValue
    from headrace._src.ops.strings.editing import join as _string_join
    from headrace._src.ops.strings.editing import strip as _string_strip
    from headrace._src.ops.strings.hash_buckets import decode_base64 as decode_base64
    from headrace._src.ops.strings.hash_buckets import encode_base64 as encode_base64
    from headrace._src.ops.strings.hash_buckets import fingerprint as fingerprint
    from headrace._src.ops.strings.hash_buckets import to_hash_bucket_fast as _string_to_hash_bucket_fast
    from headrace._src.ops.strings.hash_buckets import to_hash_bucket_strong as _string_to_hash_bucket_strong
    from headrace._src.ops.strings.matching import regex_replace as regex_replace
    from headrace._src.ops.strings.numbers import as_string as as_string
    from headrace._src.ops.windows.conv import conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2
    from headrace._src.ops.windows.conv import conv2d_backprop_input_v2 as conv2d_backprop_input_v2
    from headrace._src.ops.windows.conv_general import conv_nd as _conv
    from headrace._src.ops.windows.patches import extract_volume_patches as extract_volume_patches
    from headrace._src.ops.windows.space_batch import required_space_to_batch_paddings as required_space_to_batch_paddings
    from headrace._src.ops.windows.space_batch import space_to_batch_nd as space_to_batch_nd
    from headrace._src.program.module import Module as Module
    from headrace._src.program.queries import get_logger as get_logger
    from headrace._src.program.queries import is_symbolic_tensor as is_symbolic_tensor
    from headrace._src.state.critical_section import CriticalSection as CriticalSection
    from headrace._src.state.queues import FIFOQueue as FIFOQueue
    from headrace._src.state.queues import PaddingFIFOQueue as PaddingFIFOQueue
    from headrace._src.state.queues import PriorityQueue as PriorityQueue
    from headrace._src.state.queues import QueueBase as QueueBase
    from headrace._src.state.queues import RandomShuffleQueue as RandomShuffleQueue
    from headrace._src.state.tensor_array import TensorArray as TensorArray
    from headrace._src.state.tensor_array import TensorArraySpec as TensorArraySpec
    from headrace._src.state.variable_copies import VariableAggregation as VariableAggregation
    from headrace._src.state.variable_copies import VariableSynchronization as VariableSynchronization
    from headrace._src.tracing.batch_function import nondifferentiable_batch_function as nondifferentiable_batch_function
    from headrace._src.tracing.function import function as function
    from headrace._src.version import COMPILER_VERSION as COMPILER_VERSION
    from headrace._src.version import GIT_VERSION as GIT_VERSION
    from headrace._src.version import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
    from headrace._src.version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
    from headrace._src.version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
    from headrace._src.version import VERSION as VERSION
    from headrace.compat.v1 import app as app
    from headrace.compat.v1 import audio as audio
    from headrace.compat.v1 import autograph as autograph
    from headrace.compat.v1 import bitwise as bitwise
    from headrace.compat.v1 import compat as compat
    from headrace.compat.v1 import config as config
    from headrace.compat.v1 import data as data
    from headrace.compat.v1 import debugging as debugging
    from headrace.compat.v1 import distribute as distribute
    from headrace.compat.v1 import distributions as distributions
    from headrace.compat.v1 import dtypes as dtypes
    from headrace.compat.v1 import errors as errors
    from headrace.compat.v1 import estimator as estimator
    from headrace.compat.v1 import experimental as experimental
    from headrace.compat.v1 import feature_column as feature_column
    from headrace.compat.v1 import flags as flags
    from headrace.compat.v1 import gfile as gfile
    from headrace.compat.v1 import graph_util as graph_util
    from headrace.compat.v1 import image as image
    from headrace.compat.v1 import initializers as initializers
    from headrace.compat.v1 import io as io
    from headrace.compat.v1 import layers as layers
    from headrace.compat.v1 import linalg as linalg
    from headrace.compat.v1 import logging as logging
    from headrace.compat.v1 import lookup as lookup
    from headrace.compat.v1 import losses as losses
    from headrace.compat.v1 import manip as manip
    from headrace.compat.v1 import math as math
    from headrace.compat.v1 import metrics as metrics
    from headrace.compat.v1 import mixed_precision as mixed_precision
    from headrace.compat.v1 import nest as nest
    from headrace.compat.v1 import nn as nn
    from headrace.compat.v1 import python_io as python_io
    from headrace.compat.v1 import quantization as quantization
    from headrace.compat.v1 import queue as queue
    from headrace.compat.v1 import ragged as ragged
    from headrace.compat.v1 import random as random
    from headrace.compat.v1 import raw_ops as raw_ops
    from headrace.compat.v1 import resource_loader as resource_loader
    from headrace.compat.v1 import saved_model as saved_model
    from headrace.compat.v1 import sets as sets
    from headrace.compat.v1 import signal as signal
    from headrace.compat.v1 import sparse as sparse
    from headrace.compat.v1 import spectral as spectral
    from headrace.compat.v1 import strings as strings
    from headrace.compat.v1 import summary as summary
    from headrace.compat.v1 import sysconfig as sysconfig
    from headrace.compat.v1 import test as test
    from headrace.compat.v1 import train as train
    from headrace.compat.v1 import types as types
    from headrace.compat.v1 import version as version
    from headrace.compat.v1 import xla as xla
    DeviceSpec = _DeviceSpec
    NoGradient = _NoGradient
    NotDifferentiable = _NotDifferentiable
    Variable = _Variable
    constant_initializer = _constant_initializer
    conv = _conv
    diag = _diag
    diag_part = _diag_part
    div_no_nan = _div_no_nan
    fftnd = _fftnd
    floor_div = _floor_div
    glorot_normal_initializer = _glorot_normal_initializer
    glorot_uniform_initializer = _glorot_uniform_initializer
    ifftnd = _ifftnd
    initialize_all_tables = _initialize_all_tables
    irfftnd = _irfftnd
    lin_space = _lin_space
    matrix_band_part = _matrix_band_part
    matrix_determinant = _matrix_determinant
    matrix_diag = _matrix_diag
    matrix_diag_part = _matrix_diag_part
    matrix_inverse = _matrix_inverse
    matrix_set_diag = _matrix_set_diag
    matrix_solve = _matrix_solve
    matrix_solve_ls = _matrix_solve_ls
    matrix_square_root = _matrix_square_root
    matrix_triangular_solve = _matrix_triangular_solve
    mod = _mod
    ones_initializer = _ones_initializer
    orthogonal_initializer = _orthogonal_initializer
    print = _print
    random_gamma = _random_gamma
    random_normal = _random_normal
    random_normal_initializer = _random_normal_initializer
    random_shuffle = _random_shuffle
    random_uniform = _random_uniform
    random_uniform_initializer = _random_uniform_initializer
    range = _range
    reverse_v2 = _reverse_v2
    rfftnd = _rfftnd
    self_adjoint_eig = _self_adjoint_eig
    self_adjoint_eigvals = _self_adjoint_eigvals
    serialize_many_sparse = _serialize_many_sparse
    serialize_sparse = _serialize_sparse
    slice = _slice
    sparse_fill_empty_rows = _sparse_fill_empty_rows
    sparse_mask = _sparse_mask
    sparse_maximum = _sparse_maximum
    sparse_minimum = _sparse_minimum
    sparse_reorder = _sparse_reorder
    sparse_reset_shape = _sparse_reset_shape
    sparse_reshape = _sparse_reshape
    sparse_retain = _sparse_retain
    sparse_slice = _sparse_slice
    sparse_softmax = _sparse_softmax
    sparse_tensor_dense_matmul = _sparse_tensor_dense_matmul
    sparse_tensor_to_dense = _sparse_tensor_to_dense
    sparse_to_indicator = _sparse_to_indicator
    sparse_transpose = _sparse_transpose
    string_join = _string_join
    string_strip = _string_strip
    string_to_hash_bucket_fast = _string_to_hash_bucket_fast
    string_to_hash_bucket_strong = _string_to_hash_bucket_strong
    tensor_scatter_add = _tensor_scatter_add
    tensor_scatter_sub = _tensor_scatter_sub
    tensor_scatter_update = _tensor_scatter_update
    truncated_normal_initializer = _truncated_normal_initializer
    tuple = _tuple
    uniform_unit_scaling_initializer = _uniform_unit_scaling_initializer
    variance_scaling_initializer = _variance_scaling_initializer
    where_v2 = _where_v2
    zeros_initializer = _zeros_initializer
    newaxis = None
    keras: _Any
    optimizers: _Any
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
