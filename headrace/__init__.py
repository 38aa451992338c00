"""TensorFlow 2's programming model: `import headrace as tf`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src import essentials as _essentials  # what every program needs
from headrace._src.op.loading import public_module as _public_module
from headrace._src.version import COMPILER_VERSION as __compiler_version__
from headrace._src.version import GIT_VERSION as __git_version__
from headrace._src.version import VERSION as __version__

if TYPE_CHECKING:
    from typing import Any as _Any

    from headrace import __internal__ as __internal__
    from headrace import __operators__ as __operators__
    from headrace import audio as audio
    from headrace import autodiff as autodiff
    from headrace import autograph as autograph
    from headrace import bitwise as bitwise
    from headrace import compat as compat
    from headrace import config as config
    from headrace import data as data
    from headrace import debugging as debugging
    from headrace import distribute as distribute
    from headrace import dtypes as dtypes
    from headrace import errors as errors
    from headrace import estimator as estimator
    from headrace import experimental as experimental
    from headrace import feature_column as feature_column
    from headrace import graph_util as graph_util
    from headrace import image as image
    from headrace import io as io
    from headrace import js as js
    from headrace import linalg as linalg
    from headrace import lite as lite
    from headrace import lookup as lookup
    from headrace import math as math
    from headrace import nest as nest
    from headrace import nn as nn
    from headrace import profiler as profiler
    from headrace import quantization as quantization
    from headrace import queue as queue
    from headrace import ragged as ragged
    from headrace import random as random
    from headrace import raw_ops as raw_ops
    from headrace import safetensors as safetensors
    from headrace import saved_model as saved_model
    from headrace import serving as serving
    from headrace import sets as sets
    from headrace import signal as signal
    from headrace import sparse as sparse
    from headrace import strings as strings
    from headrace import summary as summary
    from headrace import sysconfig as sysconfig
    from headrace import test as test
    from headrace import tpu as tpu
    from headrace import train as train
    from headrace import types as types
    from headrace import version as version
    from headrace._src.autodiff.custom_gradient import custom_gradient as custom_gradient
    from headrace._src.autodiff.custom_gradient import grad_pass_through as grad_pass_through
    from headrace._src.autodiff.custom_gradient import recompute_grad as recompute_grad
    from headrace._src.autodiff.gradient_tape import GradientTape as GradientTape
    from headrace._src.autodiff.gradient_tape import UnconnectedGradients as UnconnectedGradients
    from headrace._src.autodiff.registered import AggregationMethod as AggregationMethod
    from headrace._src.autodiff.registered import RegisterGradient as RegisterGradient
    from headrace._src.autodiff.registered import no_gradient as no_gradient
    from headrace._src.compat.tensorflow_names.alias import install as _install_as_tensorflow
    from headrace._src.compat.variables.initializers import GlorotUniform as _glorot_uniform_initializer
    from headrace._src.core.context import executing_eagerly as executing_eagerly
    from headrace._src.core.devices import DeviceSpec as DeviceSpec
    from headrace._src.core.dtypes import DType as DType
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
    from headrace._src.core.names import name_scope as name_scope
    from headrace._src.core.shapes import TensorShape as TensorShape
    from headrace._src.core.shapes import broadcast_static_shape as broadcast_static_shape
    from headrace._src.core.specs import NoneTensorSpec as NoneTensorSpec
    from headrace._src.core.specs import TensorSpec as TensorSpec
    from headrace._src.core.tensor import Tensor as Tensor
    from headrace._src.core.tensor import is_tensor as is_tensor
    from headrace._src.core.type_specs import TypeSpec as TypeSpec
    from headrace._src.core.type_specs import type_spec_from_value as type_spec_from_value
    from headrace._src.data.running.optionals import OptionalSpec as OptionalSpec
    from headrace._src.graph.building.dependencies import control_dependencies as control_dependencies
    from headrace._src.graph.building.dependencies import group as group
    from headrace._src.graph.building.dependencies import tuple_ as _tuple
    from headrace._src.graph.building.graph import Graph as Graph
    from headrace._src.graph.building.operation import Operation as Operation
    from headrace._src.graph.building.variable_creation import init_scope as init_scope
    from headrace._src.graph.control.conditional import case as case
    from headrace._src.graph.control.conditional import cond as cond
    from headrace._src.graph.control.conditional import switch_case as switch_case
    from headrace._src.graph.control.folding import foldl as foldl
    from headrace._src.graph.control.folding import foldr as foldr
    from headrace._src.graph.control.folding import scan as scan
    from headrace._src.graph.control.loops import while_loop as while_loop
    from headrace._src.graph.control.map_fn import map_fn as map_fn
    from headrace._src.graph.control.python_functions import numpy_function as numpy_function
    from headrace._src.graph.control.python_functions import py_function as py_function
    from headrace._src.graph.derivatives.gradients import gradients as gradients
    from headrace._src.graph.derivatives.gradients import hessians as hessians
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
    from headrace._src.ops.arrays.constants import constant as constant
    from headrace._src.ops.arrays.constants import convert_to_tensor as convert_to_tensor
    from headrace._src.ops.arrays.constants import ones as ones
    from headrace._src.ops.arrays.constants import zeros as zeros
    from headrace._src.ops.arrays.filling import fill as fill
    from headrace._src.ops.arrays.filling import one_hot as one_hot
    from headrace._src.ops.arrays.filling import ones_like as ones_like
    from headrace._src.ops.arrays.filling import range_ as _range
    from headrace._src.ops.arrays.filling import sequence_mask as sequence_mask
    from headrace._src.ops.arrays.filling import zeros_like as zeros_like
    from headrace._src.ops.arrays.gathering import gather as gather
    from headrace._src.ops.arrays.gathering import gather_nd as gather_nd
    from headrace._src.ops.arrays.indexed_slices import IndexedSlices as IndexedSlices
    from headrace._src.ops.arrays.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
    from headrace._src.ops.arrays.indexing import boolean_mask as boolean_mask
    from headrace._src.ops.arrays.joining import concat as concat
    from headrace._src.ops.arrays.joining import parallel_stack as parallel_stack
    from headrace._src.ops.arrays.joining import stack as stack
    from headrace._src.ops.arrays.joining import unstack as unstack
    from headrace._src.ops.arrays.measuring import get_static_value as get_static_value
    from headrace._src.ops.arrays.measuring import rank as rank
    from headrace._src.ops.arrays.measuring import shape as shape
    from headrace._src.ops.arrays.measuring import shape_n as shape_n
    from headrace._src.ops.arrays.measuring import size as size
    from headrace._src.ops.arrays.padding import pad as pad
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
    from headrace._src.ops.arrays.ranking import argmax as argmax
    from headrace._src.ops.arrays.ranking import argmin as argmin
    from headrace._src.ops.arrays.rearranging import reverse as reverse
    from headrace._src.ops.arrays.rearranging import reverse_sequence as reverse_sequence
    from headrace._src.ops.arrays.rearranging import roll as roll
    from headrace._src.ops.arrays.rearranging import transpose as transpose
    from headrace._src.ops.arrays.scattering import scatter_nd as scatter_nd
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_add as tensor_scatter_nd_add
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_max as tensor_scatter_nd_max
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_min as tensor_scatter_nd_min
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_sub as tensor_scatter_nd_sub
    from headrace._src.ops.arrays.scattering import tensor_scatter_nd_update as tensor_scatter_nd_update
    from headrace._src.ops.arrays.searching import searchsorted as searchsorted
    from headrace._src.ops.arrays.searching import unravel_index as unravel_index
    from headrace._src.ops.arrays.selecting import where as where
    from headrace._src.ops.arrays.shaping import ensure_shape as ensure_shape
    from headrace._src.ops.arrays.shaping import expand_dims as expand_dims
    from headrace._src.ops.arrays.shaping import reshape as reshape
    from headrace._src.ops.arrays.shaping import squeeze as squeeze
    from headrace._src.ops.arrays.slicing import strided_slice as strided_slice
    from headrace._src.ops.arrays.sorting import argsort as argsort
    from headrace._src.ops.arrays.sorting import sort as sort
    from headrace._src.ops.arrays.spacing import linspace as linspace
    from headrace._src.ops.arrays.splitting import meshgrid as meshgrid
    from headrace._src.ops.arrays.splitting import repeat as repeat
    from headrace._src.ops.arrays.splitting import split as split
    from headrace._src.ops.arrays.splitting import tile as tile
    from headrace._src.ops.debugging.assertions import Assert as Assert
    from headrace._src.ops.debugging.assertions import assert_equal as assert_equal
    from headrace._src.ops.debugging.assertions import assert_greater as assert_greater
    from headrace._src.ops.debugging.assertions import assert_less as assert_less
    from headrace._src.ops.debugging.printing import print_ as _print
    from headrace._src.ops.debugging.static_assertions import assert_rank as assert_rank
    from headrace._src.ops.linalg.decompositions import eig as eig
    from headrace._src.ops.linalg.decompositions import eigvals as eigvals
    from headrace._src.ops.linalg.einsum import einsum as einsum
    from headrace._src.ops.linalg.einsum import tensordot as tensordot
    from headrace._src.ops.linalg.lengths import norm as norm
    from headrace._src.ops.linalg.matmul import matmul as matmul
    from headrace._src.ops.linalg.matrices import eye as eye
    from headrace._src.ops.linalg.matrix_functions import sqrtm as _matrix_square_root
    from headrace._src.ops.math.arithmetic import add as add
    from headrace._src.ops.math.arithmetic import add_n as add_n
    from headrace._src.ops.math.arithmetic import maximum as maximum
    from headrace._src.ops.math.arithmetic import minimum as minimum
    from headrace._src.ops.math.arithmetic import multiply as multiply
    from headrace._src.ops.math.arithmetic import negative as negative
    from headrace._src.ops.math.arithmetic import scalar_mul as scalar_mul
    from headrace._src.ops.math.arithmetic import subtract as subtract
    from headrace._src.ops.math.bincounts import histogram_fixed_width as histogram_fixed_width
    from headrace._src.ops.math.bincounts import histogram_fixed_width_bins as histogram_fixed_width_bins
    from headrace._src.ops.math.clipping import clip_by_global_norm as clip_by_global_norm
    from headrace._src.ops.math.clipping import clip_by_norm as clip_by_norm
    from headrace._src.ops.math.clipping import clip_by_value as clip_by_value
    from headrace._src.ops.math.comparison import equal as equal
    from headrace._src.ops.math.comparison import greater as greater
    from headrace._src.ops.math.comparison import greater_equal as greater_equal
    from headrace._src.ops.math.comparison import less as less
    from headrace._src.ops.math.comparison import less_equal as less_equal
    from headrace._src.ops.math.comparison import logical_and as logical_and
    from headrace._src.ops.math.comparison import logical_not as logical_not
    from headrace._src.ops.math.comparison import logical_or as logical_or
    from headrace._src.ops.math.comparison import not_equal as not_equal
    from headrace._src.ops.math.complex_numbers import complex as complex
    from headrace._src.ops.math.cumulative import cumsum as cumsum
    from headrace._src.ops.math.division import divide as divide
    from headrace._src.ops.math.division import realdiv as realdiv
    from headrace._src.ops.math.division import truediv as truediv
    from headrace._src.ops.math.division import truncatediv as truncatediv
    from headrace._src.ops.math.division import truncatemod as truncatemod
    from headrace._src.ops.math.elementwise import abs as abs
    from headrace._src.ops.math.elementwise import exp as exp
    from headrace._src.ops.math.elementwise import floor as floor
    from headrace._src.ops.math.elementwise import round as round
    from headrace._src.ops.math.elementwise import sigmoid as sigmoid
    from headrace._src.ops.math.elementwise import sign as sign
    from headrace._src.ops.math.elementwise import sqrt as sqrt
    from headrace._src.ops.math.elementwise import square as square
    from headrace._src.ops.math.elementwise import tanh as tanh
    from headrace._src.ops.math.powers import atan2 as atan2
    from headrace._src.ops.math.powers import pow as pow
    from headrace._src.ops.math.reductions import reduce_all as reduce_all
    from headrace._src.ops.math.reductions import reduce_any as reduce_any
    from headrace._src.ops.math.reductions import reduce_max as reduce_max
    from headrace._src.ops.math.reductions import reduce_mean as reduce_mean
    from headrace._src.ops.math.reductions import reduce_min as reduce_min
    from headrace._src.ops.math.reductions import reduce_prod as reduce_prod
    from headrace._src.ops.math.reductions import reduce_sum as reduce_sum
    from headrace._src.ops.math.statistics import reduce_logsumexp as reduce_logsumexp
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
    from headrace._src.ops.nn.initializers import Constant as _constant_initializer
    from headrace._src.ops.nn.initializers import Ones as _ones_initializer
    from headrace._src.ops.nn.initializers import RandomNormal as _random_normal_initializer
    from headrace._src.ops.nn.initializers import RandomUniform as _random_uniform_initializer
    from headrace._src.ops.nn.initializers import Zeros as _zeros_initializer
    from headrace._src.ops.parsing.proto_functions import make_ndarray as make_ndarray
    from headrace._src.ops.parsing.proto_functions import make_tensor_proto as make_tensor_proto
    from headrace._src.ops.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
    from headrace._src.ops.ragged.tensor import RaggedTensor as RaggedTensor
    from headrace._src.ops.random.shuffling import random_index_shuffle as random_index_shuffle
    from headrace._src.ops.signal.fourier_nd import fftnd_op as _fftnd
    from headrace._src.ops.signal.fourier_nd import ifftnd_op as _ifftnd
    from headrace._src.ops.signal.fourier_nd import irfftnd_op as _irfftnd
    from headrace._src.ops.signal.fourier_nd import rfftnd_op as _rfftnd
    from headrace._src.ops.sparse.edit_distance import edit_distance as edit_distance
    from headrace._src.ops.sparse.rows import ragged_fill_empty_rows as ragged_fill_empty_rows
    from headrace._src.ops.sparse.rows import ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
    from headrace._src.ops.sparse.tensor import SparseTensor as SparseTensor
    from headrace._src.ops.sparse.tensor import SparseTensorSpec as SparseTensorSpec
    from headrace._src.ops.strings.hash_buckets import fingerprint as fingerprint
    from headrace._src.ops.strings.numbers import as_string as as_string
    from headrace._src.ops.windows.conv import conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2
    from headrace._src.ops.windows.conv import conv2d_backprop_input_v2 as conv2d_backprop_input_v2
    from headrace._src.ops.windows.conv_general import conv_nd as _conv
    from headrace._src.ops.windows.patches import extract_volume_patches as extract_volume_patches
    from headrace._src.ops.windows.space_batch import batch_to_space as batch_to_space
    from headrace._src.ops.windows.space_batch import required_space_to_batch_paddings as required_space_to_batch_paddings
    from headrace._src.ops.windows.space_batch import space_to_batch as space_to_batch
    from headrace._src.ops.windows.space_batch import space_to_batch_nd as space_to_batch_nd
    from headrace._src.program.device_scopes import device as device
    from headrace._src.program.module import Module as Module
    from headrace._src.program.queries import get_current_name_scope as get_current_name_scope
    from headrace._src.program.queries import get_logger as get_logger
    from headrace._src.program.queries import inside_function as inside_function
    from headrace._src.program.queries import is_symbolic_tensor as is_symbolic_tensor
    from headrace._src.state.critical_section import CriticalSection as CriticalSection
    from headrace._src.state.tensor_array import TensorArray as TensorArray
    from headrace._src.state.tensor_array import TensorArraySpec as TensorArraySpec
    from headrace._src.state.variable_copies import VariableAggregation as VariableAggregation
    from headrace._src.state.variable_copies import VariableSynchronization as VariableSynchronization
    from headrace._src.state.variables import Variable as Variable
    from headrace._src.state.variables import variable_creator_scope as variable_creator_scope
    from headrace._src.tracing.batch_function import nondifferentiable_batch_function as nondifferentiable_batch_function
    from headrace._src.tracing.function import function as function
    constant_initializer = _constant_initializer
    conv = _conv
    fftnd = _fftnd
    glorot_uniform_initializer = _glorot_uniform_initializer
    ifftnd = _ifftnd
    install_as_tensorflow = _install_as_tensorflow
    irfftnd = _irfftnd
    matrix_square_root = _matrix_square_root
    ones_initializer = _ones_initializer
    print = _print
    random_normal_initializer = _random_normal_initializer
    random_uniform_initializer = _random_uniform_initializer
    range = _range
    rfftnd = _rfftnd
    slice = _slice
    tuple = _tuple
    zeros_initializer = _zeros_initializer
    newaxis = None
    initializers: _Any
    keras: _Any
    losses: _Any
    metrics: _Any
    optimizers: _Any
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
