"""How does a user declare operators and register kernels?

Mirrors: torch/library.py
Differs: re-exports of dispatch/library.py and _library.
"""

from glasstorch._library.custom_ops import CustomOpDef as CustomOpDef
from glasstorch._library.custom_ops import custom_op as custom_op
from glasstorch._library.fake_impl import get_ctx as get_ctx
from glasstorch._library.infer_schema import infer_schema as infer_schema
from glasstorch._library.opcheck import opcheck as opcheck
from glasstorch._library.registration import define as define
from glasstorch._library.registration import get_kernel as get_kernel
from glasstorch._library.registration import impl as impl
from glasstorch._library.registration import impl_abstract as impl_abstract
from glasstorch._library.registration import register_autocast as register_autocast
from glasstorch._library.registration import register_autograd as register_autograd
from glasstorch._library.registration import register_fake as register_fake
from glasstorch._library.registration import register_kernel as register_kernel
from glasstorch._library.registration import register_torch_dispatch as register_torch_dispatch
from glasstorch._library.registration import register_vmap as register_vmap
from glasstorch._library.registration import triton_op as triton_op
from glasstorch._library.registration import wrap_triton as wrap_triton
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.library import Library as Library
from glasstorch.dispatch.library import Library as _scoped_library  # noqa: F401  (a Library is a `with` block itself)
from glasstorch.dispatch.operator import fallthrough_kernel as fallthrough_kernel

__all__ = [
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_fake",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

__getattr__ = _refuse_unknown_names(__name__)
