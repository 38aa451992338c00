"""The public names of `tf.experimental.numpy`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.tensor import Tensor as _ndarray
    from headrace._src.ops.images.crop_resize import f32 as _float32
    from headrace._src.ops.numpy_api.arrays import arange as arange
    from headrace._src.ops.numpy_api.arrays import array as array
    from headrace._src.ops.numpy_api.arrays import asanyarray as asanyarray
    from headrace._src.ops.numpy_api.arrays import asarray as asarray
    from headrace._src.ops.numpy_api.arrays import ascontiguousarray as ascontiguousarray
    from headrace._src.ops.numpy_api.arrays import copy as copy
    from headrace._src.ops.numpy_api.arrays import diag_indices as diag_indices
    from headrace._src.ops.numpy_api.arrays import empty as empty
    from headrace._src.ops.numpy_api.arrays import empty_like as empty_like
    from headrace._src.ops.numpy_api.arrays import eye as eye
    from headrace._src.ops.numpy_api.arrays import full as full
    from headrace._src.ops.numpy_api.arrays import full_like as full_like
    from headrace._src.ops.numpy_api.arrays import geomspace as geomspace
    from headrace._src.ops.numpy_api.arrays import identity as identity
    from headrace._src.ops.numpy_api.arrays import isscalar as isscalar
    from headrace._src.ops.numpy_api.arrays import ix_ as ix_
    from headrace._src.ops.numpy_api.arrays import linspace as linspace
    from headrace._src.ops.numpy_api.arrays import logspace as logspace
    from headrace._src.ops.numpy_api.arrays import meshgrid as meshgrid
    from headrace._src.ops.numpy_api.arrays import ndim as ndim
    from headrace._src.ops.numpy_api.arrays import ones as ones
    from headrace._src.ops.numpy_api.arrays import ones_like as ones_like
    from headrace._src.ops.numpy_api.arrays import shape as shape
    from headrace._src.ops.numpy_api.arrays import size as size
    from headrace._src.ops.numpy_api.arrays import tri as tri
    from headrace._src.ops.numpy_api.arrays import vander as vander
    from headrace._src.ops.numpy_api.arrays import zeros as zeros
    from headrace._src.ops.numpy_api.arrays import zeros_like as zeros_like
    from headrace._src.ops.numpy_api.behavior import experimental_enable_numpy_behavior as experimental_enable_numpy_behavior
    from headrace._src.ops.numpy_api.elementwise import abs_ as _abs
    from headrace._src.ops.numpy_api.elementwise import absolute as absolute
    from headrace._src.ops.numpy_api.elementwise import add as add
    from headrace._src.ops.numpy_api.elementwise import allclose as allclose
    from headrace._src.ops.numpy_api.elementwise import angle as angle
    from headrace._src.ops.numpy_api.elementwise import arccos as arccos
    from headrace._src.ops.numpy_api.elementwise import arccosh as arccosh
    from headrace._src.ops.numpy_api.elementwise import arcsin as arcsin
    from headrace._src.ops.numpy_api.elementwise import arcsinh as arcsinh
    from headrace._src.ops.numpy_api.elementwise import arctan as arctan
    from headrace._src.ops.numpy_api.elementwise import arctan2 as arctan2
    from headrace._src.ops.numpy_api.elementwise import arctanh as arctanh
    from headrace._src.ops.numpy_api.elementwise import around as around
    from headrace._src.ops.numpy_api.elementwise import array_equal as array_equal
    from headrace._src.ops.numpy_api.elementwise import bitwise_and as bitwise_and
    from headrace._src.ops.numpy_api.elementwise import bitwise_not as bitwise_not
    from headrace._src.ops.numpy_api.elementwise import bitwise_or as bitwise_or
    from headrace._src.ops.numpy_api.elementwise import bitwise_xor as bitwise_xor
    from headrace._src.ops.numpy_api.elementwise import cbrt as cbrt
    from headrace._src.ops.numpy_api.elementwise import ceil as ceil
    from headrace._src.ops.numpy_api.elementwise import clip as clip
    from headrace._src.ops.numpy_api.elementwise import conj as conj
    from headrace._src.ops.numpy_api.elementwise import conjugate as conjugate
    from headrace._src.ops.numpy_api.elementwise import cos as cos
    from headrace._src.ops.numpy_api.elementwise import cosh as cosh
    from headrace._src.ops.numpy_api.elementwise import deg2rad as deg2rad
    from headrace._src.ops.numpy_api.elementwise import divide as divide
    from headrace._src.ops.numpy_api.elementwise import divmod_ as _divmod
    from headrace._src.ops.numpy_api.elementwise import equal as equal
    from headrace._src.ops.numpy_api.elementwise import exp as exp
    from headrace._src.ops.numpy_api.elementwise import exp2 as exp2
    from headrace._src.ops.numpy_api.elementwise import expm1 as expm1
    from headrace._src.ops.numpy_api.elementwise import fabs as fabs
    from headrace._src.ops.numpy_api.elementwise import fix as fix
    from headrace._src.ops.numpy_api.elementwise import float_power as float_power
    from headrace._src.ops.numpy_api.elementwise import floor as floor
    from headrace._src.ops.numpy_api.elementwise import floor_divide as floor_divide
    from headrace._src.ops.numpy_api.elementwise import gcd as gcd
    from headrace._src.ops.numpy_api.elementwise import greater as greater
    from headrace._src.ops.numpy_api.elementwise import greater_equal as greater_equal
    from headrace._src.ops.numpy_api.elementwise import heaviside as heaviside
    from headrace._src.ops.numpy_api.elementwise import hypot as hypot
    from headrace._src.ops.numpy_api.elementwise import imag as imag
    from headrace._src.ops.numpy_api.elementwise import isclose as isclose
    from headrace._src.ops.numpy_api.elementwise import iscomplex as iscomplex
    from headrace._src.ops.numpy_api.elementwise import iscomplexobj as iscomplexobj
    from headrace._src.ops.numpy_api.elementwise import isfinite as isfinite
    from headrace._src.ops.numpy_api.elementwise import isinf as isinf
    from headrace._src.ops.numpy_api.elementwise import isnan as isnan
    from headrace._src.ops.numpy_api.elementwise import isneginf as isneginf
    from headrace._src.ops.numpy_api.elementwise import isposinf as isposinf
    from headrace._src.ops.numpy_api.elementwise import isreal as isreal
    from headrace._src.ops.numpy_api.elementwise import isrealobj as isrealobj
    from headrace._src.ops.numpy_api.elementwise import lcm as lcm
    from headrace._src.ops.numpy_api.elementwise import less as less
    from headrace._src.ops.numpy_api.elementwise import less_equal as less_equal
    from headrace._src.ops.numpy_api.elementwise import log as log
    from headrace._src.ops.numpy_api.elementwise import log10 as log10
    from headrace._src.ops.numpy_api.elementwise import log1p as log1p
    from headrace._src.ops.numpy_api.elementwise import log2 as log2
    from headrace._src.ops.numpy_api.elementwise import logaddexp as logaddexp
    from headrace._src.ops.numpy_api.elementwise import logaddexp2 as logaddexp2
    from headrace._src.ops.numpy_api.elementwise import logical_and as logical_and
    from headrace._src.ops.numpy_api.elementwise import logical_not as logical_not
    from headrace._src.ops.numpy_api.elementwise import logical_or as logical_or
    from headrace._src.ops.numpy_api.elementwise import logical_xor as logical_xor
    from headrace._src.ops.numpy_api.elementwise import maximum as maximum
    from headrace._src.ops.numpy_api.elementwise import minimum as minimum
    from headrace._src.ops.numpy_api.elementwise import mod as mod
    from headrace._src.ops.numpy_api.elementwise import multiply as multiply
    from headrace._src.ops.numpy_api.elementwise import negative as negative
    from headrace._src.ops.numpy_api.elementwise import nextafter as nextafter
    from headrace._src.ops.numpy_api.elementwise import not_equal as not_equal
    from headrace._src.ops.numpy_api.elementwise import polyval as polyval
    from headrace._src.ops.numpy_api.elementwise import positive as positive
    from headrace._src.ops.numpy_api.elementwise import power as power
    from headrace._src.ops.numpy_api.elementwise import rad2deg as rad2deg
    from headrace._src.ops.numpy_api.elementwise import real as real
    from headrace._src.ops.numpy_api.elementwise import reciprocal as reciprocal
    from headrace._src.ops.numpy_api.elementwise import remainder as remainder
    from headrace._src.ops.numpy_api.elementwise import round_ as _round
    from headrace._src.ops.numpy_api.elementwise import sign as sign
    from headrace._src.ops.numpy_api.elementwise import signbit as signbit
    from headrace._src.ops.numpy_api.elementwise import sin as sin
    from headrace._src.ops.numpy_api.elementwise import sinc as sinc
    from headrace._src.ops.numpy_api.elementwise import sinh as sinh
    from headrace._src.ops.numpy_api.elementwise import sqrt as sqrt
    from headrace._src.ops.numpy_api.elementwise import square as square
    from headrace._src.ops.numpy_api.elementwise import subtract as subtract
    from headrace._src.ops.numpy_api.elementwise import tan as tan
    from headrace._src.ops.numpy_api.elementwise import tanh as tanh
    from headrace._src.ops.numpy_api.elementwise import true_divide as true_divide
    from headrace._src.ops.numpy_api.linear import cross as cross
    from headrace._src.ops.numpy_api.linear import dot as dot
    from headrace._src.ops.numpy_api.linear import einsum as einsum
    from headrace._src.ops.numpy_api.linear import inner as inner
    from headrace._src.ops.numpy_api.linear import kron as kron
    from headrace._src.ops.numpy_api.linear import matmul as matmul
    from headrace._src.ops.numpy_api.linear import outer as outer
    from headrace._src.ops.numpy_api.linear import tensordot as tensordot
    from headrace._src.ops.numpy_api.linear import vdot as vdot
    from headrace._src.ops.numpy_api.reductions import all_ as _all
    from headrace._src.ops.numpy_api.reductions import amax as amax
    from headrace._src.ops.numpy_api.reductions import amin as amin
    from headrace._src.ops.numpy_api.reductions import any_ as _any
    from headrace._src.ops.numpy_api.reductions import argmax as argmax
    from headrace._src.ops.numpy_api.reductions import argmin as argmin
    from headrace._src.ops.numpy_api.reductions import argsort as argsort
    from headrace._src.ops.numpy_api.reductions import average as average
    from headrace._src.ops.numpy_api.reductions import count_nonzero as count_nonzero
    from headrace._src.ops.numpy_api.reductions import cumprod as cumprod
    from headrace._src.ops.numpy_api.reductions import cumsum as cumsum
    from headrace._src.ops.numpy_api.reductions import diff as diff
    from headrace._src.ops.numpy_api.reductions import max_ as _max
    from headrace._src.ops.numpy_api.reductions import mean as mean
    from headrace._src.ops.numpy_api.reductions import min_ as _min
    from headrace._src.ops.numpy_api.reductions import nanmean as nanmean
    from headrace._src.ops.numpy_api.reductions import nanprod as nanprod
    from headrace._src.ops.numpy_api.reductions import nansum as nansum
    from headrace._src.ops.numpy_api.reductions import prod as prod
    from headrace._src.ops.numpy_api.reductions import ptp as ptp
    from headrace._src.ops.numpy_api.reductions import sort as sort
    from headrace._src.ops.numpy_api.reductions import std as std
    from headrace._src.ops.numpy_api.reductions import sum_ as _sum
    from headrace._src.ops.numpy_api.reductions import trace as trace
    from headrace._src.ops.numpy_api.reductions import var as var
    from headrace._src.ops.numpy_api.shapes import append as append
    from headrace._src.ops.numpy_api.shapes import atleast_1d as atleast_1d
    from headrace._src.ops.numpy_api.shapes import atleast_2d as atleast_2d
    from headrace._src.ops.numpy_api.shapes import atleast_3d as atleast_3d
    from headrace._src.ops.numpy_api.shapes import broadcast_arrays as broadcast_arrays
    from headrace._src.ops.numpy_api.shapes import broadcast_to as broadcast_to
    from headrace._src.ops.numpy_api.shapes import compress as compress
    from headrace._src.ops.numpy_api.shapes import concatenate as concatenate
    from headrace._src.ops.numpy_api.shapes import diag as diag
    from headrace._src.ops.numpy_api.shapes import diagflat as diagflat
    from headrace._src.ops.numpy_api.shapes import diagonal as diagonal
    from headrace._src.ops.numpy_api.shapes import dsplit as dsplit
    from headrace._src.ops.numpy_api.shapes import dstack as dstack
    from headrace._src.ops.numpy_api.shapes import expand_dims as expand_dims
    from headrace._src.ops.numpy_api.shapes import flatten as flatten
    from headrace._src.ops.numpy_api.shapes import flip as flip
    from headrace._src.ops.numpy_api.shapes import fliplr as fliplr
    from headrace._src.ops.numpy_api.shapes import flipud as flipud
    from headrace._src.ops.numpy_api.shapes import hsplit as hsplit
    from headrace._src.ops.numpy_api.shapes import hstack as hstack
    from headrace._src.ops.numpy_api.shapes import moveaxis as moveaxis
    from headrace._src.ops.numpy_api.shapes import nonzero as nonzero
    from headrace._src.ops.numpy_api.shapes import pad as pad
    from headrace._src.ops.numpy_api.shapes import ravel as ravel
    from headrace._src.ops.numpy_api.shapes import repeat as repeat
    from headrace._src.ops.numpy_api.shapes import reshape as reshape
    from headrace._src.ops.numpy_api.shapes import roll as roll
    from headrace._src.ops.numpy_api.shapes import rot90 as rot90
    from headrace._src.ops.numpy_api.shapes import select as select
    from headrace._src.ops.numpy_api.shapes import split as split
    from headrace._src.ops.numpy_api.shapes import squeeze as squeeze
    from headrace._src.ops.numpy_api.shapes import stack as stack
    from headrace._src.ops.numpy_api.shapes import swapaxes as swapaxes
    from headrace._src.ops.numpy_api.shapes import take as take
    from headrace._src.ops.numpy_api.shapes import take_along_axis as take_along_axis
    from headrace._src.ops.numpy_api.shapes import tile as tile
    from headrace._src.ops.numpy_api.shapes import transpose as transpose
    from headrace._src.ops.numpy_api.shapes import tril as tril
    from headrace._src.ops.numpy_api.shapes import triu as triu
    from headrace._src.ops.numpy_api.shapes import vsplit as vsplit
    from headrace._src.ops.numpy_api.shapes import vstack as vstack
    from headrace._src.ops.numpy_api.shapes import where as where
    from headrace._src.ops.numpy_api.types import bool_type as _bool_
    from headrace._src.ops.numpy_api.types import complex128_type as _complex128
    from headrace._src.ops.numpy_api.types import complex128_type as _complex_
    from headrace._src.ops.numpy_api.types import complex64_type as _complex64
    from headrace._src.ops.numpy_api.types import e as e
    from headrace._src.ops.numpy_api.types import finfo as finfo
    from headrace._src.ops.numpy_api.types import float16_type as _float16
    from headrace._src.ops.numpy_api.types import float64_type as _float64
    from headrace._src.ops.numpy_api.types import float64_type as _float_
    from headrace._src.ops.numpy_api.types import iinfo as iinfo
    from headrace._src.ops.numpy_api.types import inexact_type as _inexact
    from headrace._src.ops.numpy_api.types import inf as inf
    from headrace._src.ops.numpy_api.types import int16_type as _int16
    from headrace._src.ops.numpy_api.types import int32_type as _int32
    from headrace._src.ops.numpy_api.types import int64_type as _int64
    from headrace._src.ops.numpy_api.types import int64_type as _int_
    from headrace._src.ops.numpy_api.types import int8_type as _int8
    from headrace._src.ops.numpy_api.types import issubdtype as issubdtype
    from headrace._src.ops.numpy_api.types import object_type as _object_
    from headrace._src.ops.numpy_api.types import pi as pi
    from headrace._src.ops.numpy_api.types import promote_types as promote_types
    from headrace._src.ops.numpy_api.types import result_type as result_type
    from headrace._src.ops.numpy_api.types import string_type as _string_
    from headrace._src.ops.numpy_api.types import uint16_type as _uint16
    from headrace._src.ops.numpy_api.types import uint32_type as _uint32
    from headrace._src.ops.numpy_api.types import uint64_type as _uint64
    from headrace._src.ops.numpy_api.types import uint8_type as _uint8
    from headrace._src.ops.numpy_api.types import unicode_type as _unicode_
    from headrace.experimental.numpy import random as random
    abs = _abs
    all = _all
    any = _any
    bool_ = _bool_
    complex128 = _complex128
    complex64 = _complex64
    complex_ = _complex_
    divmod = _divmod
    float16 = _float16
    float32 = _float32
    float64 = _float64
    float_ = _float_
    inexact = _inexact
    int16 = _int16
    int32 = _int32
    int64 = _int64
    int8 = _int8
    int_ = _int_
    max = _max
    min = _min
    ndarray = _ndarray
    object_ = _object_
    round = _round
    string_ = _string_
    sum = _sum
    uint16 = _uint16
    uint32 = _uint32
    uint64 = _uint64
    uint8 = _uint8
    unicode_ = _unicode_
    newaxis = None
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
