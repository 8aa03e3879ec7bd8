"""Which names does `import glasstorch as torch` offer?

Mirrors: torch/__init__.py
Differs: assembled here from the modules that define the names; the error for a missing name gives the nearest one.
"""

from __future__ import annotations

import typing as _typing
from importlib import import_module as _import_module
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any as _Any

from glasstorch import _C as _C
from glasstorch import __future__ as __future__
from glasstorch import _utils as _utils
from glasstorch import amp as amp
from glasstorch import autograd as autograd
from glasstorch import backends as backends
from glasstorch import cpu as cpu
from glasstorch import cuda as cuda
from glasstorch import fft as fft
from glasstorch import func as func
from glasstorch import functional as functional
from glasstorch import library as library
from glasstorch import linalg as linalg
from glasstorch import masked as masked
from glasstorch import nn as nn
from glasstorch import optim as optim
from glasstorch import overrides as overrides
from glasstorch import random as random
from glasstorch import return_types as return_types
from glasstorch import serialization as serialization
from glasstorch import signal as signal
from glasstorch import sparse as sparse
from glasstorch import special as special
from glasstorch import storage as storage
from glasstorch import torch_version as torch_version
from glasstorch import utils as utils
from glasstorch import version as version
from glasstorch._checks import *  # noqa: F403
from glasstorch._checks import __all__ as _CHECKS
from glasstorch._python_dispatch import register_python_dispatch
from glasstorch._settings import *  # noqa: F403
from glasstorch._settings import _register_device_module as _register_device_module
from glasstorch._symbolic import *  # noqa: F403
from glasstorch._symbolic import OF_MATH as _OF_MATH
from glasstorch._symbolic import _assert as _assert
from glasstorch._tensor import Tensor as Tensor
from glasstorch._tracer import register_tracer
from glasstorch.amp.autocast_mode import autocast as autocast
from glasstorch.amp.casts import clear_autocast_cache as clear_autocast_cache
from glasstorch.amp.state import *  # noqa: F403
from glasstorch.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from glasstorch.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from glasstorch.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from glasstorch.autograd.modes import enable_grad as enable_grad
from glasstorch.autograd.modes import inference_mode as inference_mode
from glasstorch.autograd.modes import is_grad_enabled as is_grad_enabled
from glasstorch.autograd.modes import no_grad as no_grad
from glasstorch.autograd.modes import set_grad_enabled as set_grad_enabled
from glasstorch.calls.ops import ops as ops
from glasstorch.calls.ops import set_library_starter as _set_library_starter
from glasstorch.calls.removed import eig as eig
from glasstorch.calls.removed import lstsq as lstsq
from glasstorch.calls.removed import matrix_rank as matrix_rank
from glasstorch.calls.removed import solve as solve
from glasstorch.calls.removed import symeig as symeig
from glasstorch.compiler.entry import compile as compile
from glasstorch.core import hooks as _hooks
from glasstorch.core.device import chosen as _chosen_device
from glasstorch.core.device import device as device
from glasstorch.core.device import set_default_device as set_default_device
from glasstorch.core.dtype import NO_COMPLEX_HALF as _NO_COMPLEX_HALF
from glasstorch.core.dtype import bfloat16 as bfloat16
from glasstorch.core.dtype import bool_ as _bool
from glasstorch.core.dtype import can_cast as can_cast
from glasstorch.core.dtype import complex64 as complex64
from glasstorch.core.dtype import complex128 as complex128
from glasstorch.core.dtype import dtype as dtype
from glasstorch.core.dtype import float8_e4m3fn as float8_e4m3fn
from glasstorch.core.dtype import float8_e5m2 as float8_e5m2
from glasstorch.core.dtype import float16 as float16
from glasstorch.core.dtype import float32 as float32
from glasstorch.core.dtype import float64 as float64
from glasstorch.core.dtype import get_default_dtype as get_default_dtype
from glasstorch.core.dtype import int8 as int8
from glasstorch.core.dtype import int16 as int16
from glasstorch.core.dtype import int32 as int32
from glasstorch.core.dtype import int64 as int64
from glasstorch.core.dtype import promote_types as promote_types
from glasstorch.core.dtype import set_default_dtype as set_default_dtype
from glasstorch.core.dtype import uint8 as uint8
from glasstorch.core.dtype import uint16 as uint16
from glasstorch.core.dtype import uint32 as uint32
from glasstorch.core.dtype import uint64 as uint64
from glasstorch.core.errors import AcceleratorError as AcceleratorError
from glasstorch.core.errors import OutOfMemoryError as OutOfMemoryError
from glasstorch.core.geometry import Size as Size
from glasstorch.core.inference import is_inference_mode_enabled as is_inference_mode_enabled
from glasstorch.core.keys import DispatchKey as DispatchKey
from glasstorch.core.keys import DispatchKeySet as DispatchKeySet
from glasstorch.core.layout import channels_last as channels_last
from glasstorch.core.layout import channels_last_3d as channels_last_3d
from glasstorch.core.layout import contiguous_format as contiguous_format
from glasstorch.core.layout import jagged as jagged
from glasstorch.core.layout import layout as layout
from glasstorch.core.layout import memory_format as memory_format
from glasstorch.core.layout import preserve_format as preserve_format
from glasstorch.core.layout import sparse_bsc as sparse_bsc
from glasstorch.core.layout import sparse_bsr as sparse_bsr
from glasstorch.core.layout import sparse_coo as sparse_coo
from glasstorch.core.layout import sparse_csc as sparse_csc
from glasstorch.core.layout import sparse_csr as sparse_csr
from glasstorch.core.layout import strided as strided
from glasstorch.core.parallel import get_num_threads as get_num_threads
from glasstorch.core.parallel import set_num_threads as set_num_threads
from glasstorch.core.random.generator import Generator as Generator
from glasstorch.core.storage import UntypedStorage as UntypedStorage
from glasstorch.core.type_info import finfo as finfo
from glasstorch.core.type_info import iinfo as iinfo
from glasstorch.core.typed_storage import LEGACY_CLASSES as _LEGACY_CLASSES
from glasstorch.core.typed_storage import TypedStorage as TypedStorage
from glasstorch.core.typed_storage import is_storage as is_storage
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.dispatch.fallback import register_fallbacks
from glasstorch.dispatch.runtime_schema import Argument as Argument
from glasstorch.dispatch.runtime_schema import FunctionSchema as FunctionSchema
from glasstorch.dispatch.schema_reader import parse_schema as parse_schema
from glasstorch.dispatch.tags import Tag as Tag
from glasstorch.func import functional_api as _functional_api
from glasstorch.func.functional_api import *  # noqa: F403
from glasstorch.func.vmap import vmap as vmap
from glasstorch.functional import *  # noqa: F403
from glasstorch.kernels import register_kernels
from glasstorch.nn.modules.module import _compile as _compile_of_modules
from glasstorch.operators.generated import public as _public
from glasstorch.operators.generated.functions import _conj as _conj
from glasstorch.operators.generated.functions import _neg_view as _neg_view
from glasstorch.operators.generated.functions import embedding_renorm_ as embedding_renorm_
from glasstorch.operators.generated.public import *  # noqa: F403
from glasstorch.outside_data.asarray import asarray as asarray
from glasstorch.outside_data.creation import *  # noqa: F403
from glasstorch.outside_data.foreign_memory import *  # noqa: F403
from glasstorch.printing import set_printoptions as set_printoptions
from glasstorch.python_forms.compressed_tensors import *  # noqa: F403
from glasstorch.python_forms.fact_functions import *  # noqa: F403
from glasstorch.python_forms.nonzero import nonzero as nonzero
from glasstorch.python_forms.range import range as range
from glasstorch.python_forms.sparse_tensors import *  # noqa: F403
from glasstorch.python_forms.tensor_types import BFloat16Tensor as BFloat16Tensor
from glasstorch.python_forms.tensor_types import BoolTensor as BoolTensor
from glasstorch.python_forms.tensor_types import ByteTensor as ByteTensor
from glasstorch.python_forms.tensor_types import CharTensor as CharTensor
from glasstorch.python_forms.tensor_types import DoubleTensor as DoubleTensor
from glasstorch.python_forms.tensor_types import FloatTensor as FloatTensor
from glasstorch.python_forms.tensor_types import HalfTensor as HalfTensor
from glasstorch.python_forms.tensor_types import IntTensor as IntTensor
from glasstorch.python_forms.tensor_types import LongTensor as LongTensor
from glasstorch.python_forms.tensor_types import ShortTensor as ShortTensor
from glasstorch.python_forms.tensor_types import set_default_tensor_type as set_default_tensor_type
from glasstorch.python_forms.tensor_types import typename as typename
from glasstorch.random import default_generator as default_generator
from glasstorch.random import get_rng_state as get_rng_state
from glasstorch.random import initial_seed as initial_seed
from glasstorch.random import manual_seed as manual_seed
from glasstorch.random import seed as seed
from glasstorch.random import set_rng_state as set_rng_state
from glasstorch.serialization.loading import load as load
from glasstorch.serialization.saving import save as save

register_fallbacks()
register_kernels()
autograd.register_autograd_kernels()
register_tracer()
register_python_dispatch()
_hooks.set_array_namespace(lambda: _import_module("glasstorch.array_api"))
_hooks.set_transforms(lambda: _import_module("glasstorch.func"))
_chosen_device.shown = lambda: _import_module("glasstorch.utils._device")
_compile_of_modules.append(compile)
_set_library_starter(lambda library, path: _import_module("glasstorch.utils._cpp.loading").start(library, path))
_LATE = (  # modules that few programs use, imported on first access
    "_VF", "__config__", "_decomp", "_dynamo", "_functorch", "_inductor", "_logging", "_subclasses", "_tensor_str",
    "accelerator",
    "array_api", "compiler", "cpu", "distributed", "distributions", "fx", "hub", "jit", "mps", "multiprocessing",
    "nested", "onnx", "profiler", "quasirandom", "testing", "types", "xpu",
)  # fmt: skip
_refuse = refuse_unknown_names("glasstorch", _LATE)


def __getattr__(name: str) -> _Any:
    if name in ("complex32", "chalf"):
        raise AttributeError(_NO_COMPLEX_HALF)  # without `name=`: Python would add a suggestion
    return _refuse(name)


bool, short, int, long = _bool, int16, int32, int64
_PRIVATE = {  # operators that programs call by names with an underscore
    name: value
    for name, value in vars(_public).items()
    if name.startswith("_") and not name.startswith("__") and name not in ("_functions", "_listed")
}
globals().update(_PRIVATE)
globals().update(_LEGACY_CLASSES)  # FloatStorage and the others
half, float, double, cfloat, cdouble = float16, float32, float64, complex64, complex128
newaxis = None
spmm, dsmm, hsmm, saddmm = mm, mm, hspmm, sspaddmm  # noqa: F405  (older names)

if not _typing.TYPE_CHECKING:  # a type checker cannot read it, and would take it for an empty list
    __all__ = [
        name
        for name in globals()
        if (not name.startswith(("_", "register_")) and name not in ("annotations", "refuse_unknown_names"))
        or name in ("_assert", "_conj", "_neg_view", "_register_device_module", *_functional_api.__all__)
        or name in _PRIVATE
        or name in (*_OF_MATH, *_CHECKS)
    ]
