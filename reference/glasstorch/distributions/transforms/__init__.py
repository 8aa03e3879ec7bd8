"""Which functions turn draws of one distribution into draws of another?

Reading order: `transform` (what one is), `composition` (several in turn, or over more dimensions), `elementwise`,
`structured` (between vectors and simplices or matrices), `pieces` (different ones for parts of a tensor).

Mirrors: torch/distributions/transforms.py
"""

from glasstorch.distributions.transforms.composition import ComposeTransform as ComposeTransform
from glasstorch.distributions.transforms.composition import IndependentTransform as IndependentTransform
from glasstorch.distributions.transforms.composition import ReshapeTransform as ReshapeTransform
from glasstorch.distributions.transforms.composition import identity_transform as identity_transform
from glasstorch.distributions.transforms.elementwise import AbsTransform as AbsTransform
from glasstorch.distributions.transforms.elementwise import AffineTransform as AffineTransform
from glasstorch.distributions.transforms.elementwise import (
    CumulativeDistributionTransform as CumulativeDistributionTransform,
)
from glasstorch.distributions.transforms.elementwise import ExpTransform as ExpTransform
from glasstorch.distributions.transforms.elementwise import PowerTransform as PowerTransform
from glasstorch.distributions.transforms.elementwise import SigmoidTransform as SigmoidTransform
from glasstorch.distributions.transforms.elementwise import SoftplusTransform as SoftplusTransform
from glasstorch.distributions.transforms.elementwise import TanhTransform as TanhTransform
from glasstorch.distributions.transforms.pieces import CatTransform as CatTransform
from glasstorch.distributions.transforms.pieces import StackTransform as StackTransform
from glasstorch.distributions.transforms.structured import CorrCholeskyTransform as CorrCholeskyTransform
from glasstorch.distributions.transforms.structured import LowerCholeskyTransform as LowerCholeskyTransform
from glasstorch.distributions.transforms.structured import PositiveDefiniteTransform as PositiveDefiniteTransform
from glasstorch.distributions.transforms.structured import SoftmaxTransform as SoftmaxTransform
from glasstorch.distributions.transforms.structured import StickBreakingTransform as StickBreakingTransform
from glasstorch.distributions.transforms.transform import Transform as Transform
from glasstorch.distributions.transforms.transform import _InverseTransform as _InverseTransform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]
