"""How far is one distribution from another?

Reading order: `dispatch` (which function computes it for two distributions); the functions: `same_kind`, `gaussians`,
`other_kinds`, `infinite`.

Mirrors: torch/distributions/kl.py
"""

from glasstorch.distributions.kl import gaussians as _gaussians  # noqa: F401 - importing registers the functions
from glasstorch.distributions.kl import infinite as _infinite  # noqa: F401
from glasstorch.distributions.kl import other_kinds as _other_kinds  # noqa: F401
from glasstorch.distributions.kl import same_kind as _same_kind  # noqa: F401
from glasstorch.distributions.kl.dispatch import KL_REGISTRY as _KL_REGISTRY  # noqa: F401 - PyTorch's name
from glasstorch.distributions.kl.dispatch import kl_divergence as kl_divergence
from glasstorch.distributions.kl.dispatch import register_kl as register_kl

__all__ = ["kl_divergence", "register_kl"]
