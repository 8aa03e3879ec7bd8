"""The mean of the tangents, each weighted by its share in the sum, which is computed from differences."""

from collections.abc import Sequence

import glasstorch as torch


def logsumexp_tangent(
    self: torch.Tensor,
    self_t: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    result: torch.Tensor,
) -> torch.Tensor:
    """The tangent of `result`, which is `torch.logsumexp(self, dim, keepdim)`."""
    if not keepdim:
        for d in sorted(d % self.ndim for d in dim):
            result = result.unsqueeze(d)
    share = torch.exp(self - result)
    share = share.masked_fill(self == -torch.inf, 0)
    return (share * self_t).sum(list(dim), keepdim)
