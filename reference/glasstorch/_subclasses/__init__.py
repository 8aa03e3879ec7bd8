"""Which subclasses of Tensor does the library use itself?

Reading order: `errors` (what a fake tensor cannot answer), `fake_tensor` (the class and its mode),
`fake_utils` (fake results compared with real ones), `schema_check_mode` (calls compared with their schemas).

Mirrors: torch/_subclasses/__init__.py
Differs: fake tensors only.
"""

from glasstorch._subclasses.errors import DynamicOutputShapeException as DynamicOutputShapeException
from glasstorch._subclasses.errors import UnsupportedFakeTensorException as UnsupportedFakeTensorException
from glasstorch._subclasses.fake_tensor import FakeTensor as FakeTensor
from glasstorch._subclasses.fake_tensor import FakeTensorMode as FakeTensorMode
from glasstorch._subclasses.fake_utils import CrossRefFakeMode as CrossRefFakeMode

__all__ = [
    "CrossRefFakeMode",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
]
