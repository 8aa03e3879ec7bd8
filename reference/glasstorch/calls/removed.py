"""What is the caller of a removed function told?

Mirrors: torch/_linalg_utils.py (matrix_rank, solve, lstsq, _symeig, eig)
Differs: the messages are shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

# function -> what to call instead
INSTEAD = {
    "eig": "torch.linalg.eig(A), or torch.linalg.eigvals(A) without the vectors; both give complex tensors",
    "lstsq": "torch.linalg.lstsq(A, B), which has its arguments in the other order",
    "matrix_rank": "torch.linalg.matrix_rank(A, hermitian=...)",
    "solve": "torch.linalg.solve(A, B), which has its arguments in the other order; linalg.lu_factor gives the factors",
    "symeig": "torch.linalg.eigh(A, UPLO='U' if upper else 'L'), or torch.linalg.eigvalsh without the vectors",
}


def _removed(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed. "
            f"Instead of torch.{name} call {INSTEAD[name]}."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Removed from PyTorch; {INSTEAD[name]} is what to call."
    return function


eig = _removed("eig")
lstsq = _removed("lstsq")
matrix_rank = _removed("matrix_rank")
solve = _removed("solve")
symeig = _removed("symeig")
