"""How are tensors compared and made in tests?

Reading order: `comparison` (assert_close), with its `mismatches` (what it says of values that differ) and
`layouts` (what of tensors that are not strided is compared); `creation` (make_tensor); `file_check` (FileCheck, for
texts and graphs).

Mirrors: torch/testing
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.testing.comparison import assert_allclose as assert_allclose
from glasstorch.testing.comparison import assert_close as assert_close
from glasstorch.testing.creation import make_tensor as make_tensor
from glasstorch.testing.file_check import FileCheck as FileCheck

__getattr__ = _refuse_unknown_names(__name__)
