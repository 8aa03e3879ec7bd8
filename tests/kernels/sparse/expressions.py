"""What does a library answer to an expression about sparse tensors: a text, or an error?

The expressions are written once and run in both libraries. Their operands are small tensors with names: `c` is
coalesced, `u` is not, `h` has a dense dimension, `n` integers, `b` bools, `z` nothing, `d` and `e` are strided. With
the elements of `d`, `r` is CSR, `k` CSC, `o` BSR and `p` BSC; names that end in 2 have others. `m` is a batch of CSR
matrices, `y` a CSR one with a dense dimension.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

NOT_WHOLE = (  # after these words PyTorch lists backends and its own places, and glasstorch other ones
    " This could be because",
    " but expected one of:",
    "(Could this error message be improved?",
)


def operands(library: Any) -> dict[str, Any]:
    """The names that an expression may use."""
    T, S = library.tensor, library.sparse_coo_tensor
    return {
        "torch": library,
        "T": T,
        "S": S,
        "copy": copy,
        "pickle": pickle,
        "i": T([[0, 1], [1, 0]]),
        "v": library.ones(2),
        "d": T([[1.0, 0.0], [-2.0, 3.0]]),
        "c": T([[1.0, 0.0], [-2.0, 3.0]]).to_sparse(),
        "u": S(T([[0, 0, 1], [1, 1, 0]]), T([1.0, -2.0, 0.5]), (2, 2)),
        "h": T([[[1.0, 2.0], [0.0, 0.0]], [[0.0, -1.0], [3.0, 0.0]]]).to_sparse(2),
        "n": T([[1, 0], [-2, 3]]).to_sparse(),
        "b": T([[True, False], [True, True]]).to_sparse(),
        "z": S((2, 2)),
        "q": T([[1 + 2j, 0], [0, 3j]]).to_sparse(),
        "csr": library.sparse_csr,
        "csc": library.sparse_csc,
        "bsr": library.sparse_bsr,
        "bsc": library.sparse_bsc,
        "r": T([[1.0, 0.0], [-2.0, 3.0]]).to_sparse_csr(),
        "k": T([[1.0, 0.0], [-2.0, 3.0]]).to_sparse_csc(),
        "o": T([[1.0, 0.0], [-2.0, 3.0]]).to_sparse_bsr((1, 2)),
        "p": T([[1.0, 0.0], [-2.0, 3.0]]).to_sparse_bsc((2, 1)),
        "m": T([[[1.0, 0.0], [-2.0, 3.0]], [[0.0, 5.0], [6.0, 7.0]]]).to_sparse_csr(),
        "y": T([[[1.0, 2.0], [0.0, 0.0]], [[0.0, -1.0], [3.0, 0.0]]]).to_sparse_csr(dense_dim=1),
        "e": T([[1.0, 2.0], [3.0, 4.0]]),
        "d2": T([[2.0, 0.0], [6.0, 8.0]]),
        "c2": T([[2.0, 0.0], [6.0, 8.0]]).to_sparse(),
        "r2": T([[2.0, 0.0], [6.0, 8.0]]).to_sparse_csr(),
        "k2": T([[2.0, 0.0], [6.0, 8.0]]).to_sparse_csc(),
        "o2": T([[2.0, 0.0], [6.0, 8.0]]).to_sparse_bsr((1, 2)),
        "p2": T([[2.0, 0.0], [6.0, 8.0]]).to_sparse_bsc((2, 1)),
        "A": library.sparse_compressed_tensor,
        "check": library._validate_sparse_compressed_tensor_args,
        "gradient": gradient,
    }


def gradient(function: Any, of: Any) -> Any:
    """The gradient of a function's result, or of its sum, with respect to a tensor."""
    leaf = of.detach().requires_grad_()
    result = function(leaf)
    (
        result if result.dim() == 0 else (result if str(result.layout) == "torch.strided" else result.to_dense()).sum()
    ).backward()
    return leaf.grad


def said(library: Any, expression: str) -> str:
    """What the library says to an expression."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(expression, operands(library)))
        except Exception as error:  # noqa: BLE001  (whatever it is, it is compared)
            kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            text = str(error).splitlines()[0] if str(error) else ""
            for words in NOT_WHOLE:
                text = text.partition(words)[0]
            return f"{kind.__name__}: {text.strip()}"
