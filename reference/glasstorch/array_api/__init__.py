"""What does the Python array API standard's namespace offer?

It implements version 2024.12 of the standard, for programs written for any array library. Its arrays are the library's
tensors: `x.__array_namespace__()` returns this module.

>>> import glasstorch.array_api as xp
>>> xp.sum(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
tensor([4., 6.])

Reading order: `_scalars` (type promotion of numbers and mixed dtypes), `_creation`, `_dtypes`, `_info`, `_elementwise`,
`_statistics`, `_searching`, `_sets`, `_manipulation`, `_products`, `linalg`, `fft`.

Mirrors: nothing in torch, which has no such namespace; the names and signatures are those of array-api-strict
Differs: a tensor's `size` stays the method that it is in torch; few functions compute in uint16, uint32 and
    uint64, as in torch.
"""

from __future__ import annotations

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from glasstorch.array_api import fft as fft
from glasstorch.array_api import linalg as linalg
from glasstorch.array_api._creation import arange as arange
from glasstorch.array_api._creation import asarray as asarray
from glasstorch.array_api._creation import empty as empty
from glasstorch.array_api._creation import empty_like as empty_like
from glasstorch.array_api._creation import eye as eye
from glasstorch.array_api._creation import from_dlpack as from_dlpack
from glasstorch.array_api._creation import full as full
from glasstorch.array_api._creation import full_like as full_like
from glasstorch.array_api._creation import linspace as linspace
from glasstorch.array_api._creation import meshgrid as meshgrid
from glasstorch.array_api._creation import ones as ones
from glasstorch.array_api._creation import ones_like as ones_like
from glasstorch.array_api._creation import tril as tril
from glasstorch.array_api._creation import triu as triu
from glasstorch.array_api._creation import zeros as zeros
from glasstorch.array_api._creation import zeros_like as zeros_like
from glasstorch.array_api._dtypes import astype as astype
from glasstorch.array_api._dtypes import can_cast as can_cast
from glasstorch.array_api._dtypes import finfo as finfo
from glasstorch.array_api._dtypes import iinfo as iinfo
from glasstorch.array_api._dtypes import isdtype as isdtype
from glasstorch.array_api._dtypes import result_type as result_type
from glasstorch.array_api._elementwise import abs as abs
from glasstorch.array_api._elementwise import acos as acos
from glasstorch.array_api._elementwise import acosh as acosh
from glasstorch.array_api._elementwise import add as add
from glasstorch.array_api._elementwise import asin as asin
from glasstorch.array_api._elementwise import asinh as asinh
from glasstorch.array_api._elementwise import atan as atan
from glasstorch.array_api._elementwise import atan2 as atan2
from glasstorch.array_api._elementwise import atanh as atanh
from glasstorch.array_api._elementwise import bitwise_and as bitwise_and
from glasstorch.array_api._elementwise import bitwise_invert as bitwise_invert
from glasstorch.array_api._elementwise import bitwise_left_shift as bitwise_left_shift
from glasstorch.array_api._elementwise import bitwise_or as bitwise_or
from glasstorch.array_api._elementwise import bitwise_right_shift as bitwise_right_shift
from glasstorch.array_api._elementwise import bitwise_xor as bitwise_xor
from glasstorch.array_api._elementwise import ceil as ceil
from glasstorch.array_api._elementwise import clip as clip
from glasstorch.array_api._elementwise import conj as conj
from glasstorch.array_api._elementwise import copysign as copysign
from glasstorch.array_api._elementwise import cos as cos
from glasstorch.array_api._elementwise import cosh as cosh
from glasstorch.array_api._elementwise import divide as divide
from glasstorch.array_api._elementwise import equal as equal
from glasstorch.array_api._elementwise import exp as exp
from glasstorch.array_api._elementwise import expm1 as expm1
from glasstorch.array_api._elementwise import floor as floor
from glasstorch.array_api._elementwise import floor_divide as floor_divide
from glasstorch.array_api._elementwise import greater as greater
from glasstorch.array_api._elementwise import greater_equal as greater_equal
from glasstorch.array_api._elementwise import hypot as hypot
from glasstorch.array_api._elementwise import imag as imag
from glasstorch.array_api._elementwise import isfinite as isfinite
from glasstorch.array_api._elementwise import isinf as isinf
from glasstorch.array_api._elementwise import isnan as isnan
from glasstorch.array_api._elementwise import less as less
from glasstorch.array_api._elementwise import less_equal as less_equal
from glasstorch.array_api._elementwise import log as log
from glasstorch.array_api._elementwise import log1p as log1p
from glasstorch.array_api._elementwise import log2 as log2
from glasstorch.array_api._elementwise import log10 as log10
from glasstorch.array_api._elementwise import logaddexp as logaddexp
from glasstorch.array_api._elementwise import logical_and as logical_and
from glasstorch.array_api._elementwise import logical_not as logical_not
from glasstorch.array_api._elementwise import logical_or as logical_or
from glasstorch.array_api._elementwise import logical_xor as logical_xor
from glasstorch.array_api._elementwise import maximum as maximum
from glasstorch.array_api._elementwise import minimum as minimum
from glasstorch.array_api._elementwise import multiply as multiply
from glasstorch.array_api._elementwise import negative as negative
from glasstorch.array_api._elementwise import nextafter as nextafter
from glasstorch.array_api._elementwise import not_equal as not_equal
from glasstorch.array_api._elementwise import positive as positive
from glasstorch.array_api._elementwise import pow as pow
from glasstorch.array_api._elementwise import real as real
from glasstorch.array_api._elementwise import reciprocal as reciprocal
from glasstorch.array_api._elementwise import remainder as remainder
from glasstorch.array_api._elementwise import round as round
from glasstorch.array_api._elementwise import sign as sign
from glasstorch.array_api._elementwise import signbit as signbit
from glasstorch.array_api._elementwise import sin as sin
from glasstorch.array_api._elementwise import sinh as sinh
from glasstorch.array_api._elementwise import sqrt as sqrt
from glasstorch.array_api._elementwise import square as square
from glasstorch.array_api._elementwise import subtract as subtract
from glasstorch.array_api._elementwise import tan as tan
from glasstorch.array_api._elementwise import tanh as tanh
from glasstorch.array_api._elementwise import trunc as trunc
from glasstorch.array_api._info import __array_namespace_info__ as __array_namespace_info__
from glasstorch.array_api._manipulation import broadcast_arrays as broadcast_arrays
from glasstorch.array_api._manipulation import broadcast_shapes as broadcast_shapes
from glasstorch.array_api._manipulation import broadcast_to as broadcast_to
from glasstorch.array_api._manipulation import concat as concat
from glasstorch.array_api._manipulation import expand_dims as expand_dims
from glasstorch.array_api._manipulation import flip as flip
from glasstorch.array_api._manipulation import moveaxis as moveaxis
from glasstorch.array_api._manipulation import permute_dims as permute_dims
from glasstorch.array_api._manipulation import repeat as repeat
from glasstorch.array_api._manipulation import reshape as reshape
from glasstorch.array_api._manipulation import roll as roll
from glasstorch.array_api._manipulation import squeeze as squeeze
from glasstorch.array_api._manipulation import stack as stack
from glasstorch.array_api._manipulation import tile as tile
from glasstorch.array_api._manipulation import unstack as unstack
from glasstorch.array_api._products import matmul as matmul
from glasstorch.array_api._products import matrix_transpose as matrix_transpose
from glasstorch.array_api._products import tensordot as tensordot
from glasstorch.array_api._products import vecdot as vecdot
from glasstorch.array_api._searching import argmax as argmax
from glasstorch.array_api._searching import argmin as argmin
from glasstorch.array_api._searching import argsort as argsort
from glasstorch.array_api._searching import count_nonzero as count_nonzero
from glasstorch.array_api._searching import nonzero as nonzero
from glasstorch.array_api._searching import searchsorted as searchsorted
from glasstorch.array_api._searching import sort as sort
from glasstorch.array_api._searching import take as take
from glasstorch.array_api._searching import take_along_axis as take_along_axis
from glasstorch.array_api._searching import where as where
from glasstorch.array_api._sets import isin as isin
from glasstorch.array_api._sets import unique_all as unique_all
from glasstorch.array_api._sets import unique_counts as unique_counts
from glasstorch.array_api._sets import unique_inverse as unique_inverse
from glasstorch.array_api._sets import unique_values as unique_values
from glasstorch.array_api._statistics import all as all
from glasstorch.array_api._statistics import any as any
from glasstorch.array_api._statistics import cumulative_prod as cumulative_prod
from glasstorch.array_api._statistics import cumulative_sum as cumulative_sum
from glasstorch.array_api._statistics import diff as diff
from glasstorch.array_api._statistics import max as max
from glasstorch.array_api._statistics import mean as mean
from glasstorch.array_api._statistics import min as min
from glasstorch.array_api._statistics import prod as prod
from glasstorch.array_api._statistics import std as std
from glasstorch.array_api._statistics import sum as sum
from glasstorch.array_api._statistics import var as var
from glasstorch.core.device import device
from glasstorch.core.dtype import bool_ as _bool
from glasstorch.core.dtype import complex64 as complex64
from glasstorch.core.dtype import complex128 as complex128
from glasstorch.core.dtype import float32 as float32
from glasstorch.core.dtype import float64 as float64
from glasstorch.core.dtype import int8 as int8
from glasstorch.core.dtype import int16 as int16
from glasstorch.core.dtype import int32 as int32
from glasstorch.core.dtype import int64 as int64
from glasstorch.core.dtype import uint8 as uint8
from glasstorch.core.dtype import uint16 as uint16
from glasstorch.core.dtype import uint32 as uint32
from glasstorch.core.dtype import uint64 as uint64

__array_api_version__ = "2024.12"
newaxis = None
Device, bool = device, _bool

__all__ = [
    name
    for name in sorted(globals())
    if name not in ("annotations", "device") and (not name.startswith("_") or name.startswith("__array_"))
]
