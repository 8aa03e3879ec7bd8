"""Does a sparse tensor hold its parts, and does what stands for its storage refuse?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.sparse_parts import CooParts, no_storage
from tests.running import ROOT

# What a program that has made no compressed tensor yet is warned of, at its lines.
WARNED = """
import importlib, json, sys, warnings
torch = importlib.import_module(sys.argv[1])
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    eye = torch.eye(2)
    counts = [len(given)]
    for make in sys.argv[2:]:
        eval(make)
        counts.append(len(given))
words = [str(one.message).split(" (Triggered")[0] for one in given]
print(json.dumps([counts, words, [one.category.__name__ for one in given]]))
"""


def test_a_strided_tensor_has_no_parts() -> None:
    assert not hasattr(glasstorch.ones(2), "_parts")


def test_the_parts_say_how_many_dimensions_and_elements_there_are() -> None:
    held = glasstorch.ones(2, 3, 4).to_sparse(2)._parts
    assert isinstance(held, CooParts)
    assert (held.sparse_dim, held.dense_dim, held.nnz, held.coalesced) == (2, 1, 6, True)


def test_all_tensors_of_a_layout_on_a_device_share_what_stands_for_their_storage() -> None:
    a, b = glasstorch.eye(2).to_sparse(), glasstorch.eye(3).to_sparse()
    assert a._storage is b._storage is no_storage(a.device, a.layout)


def test_a_view_kernel_is_refused_in_pytorchs_words() -> None:
    with pytest.raises(
        NotImplementedError, match="Could not run 'aten::as_strided' with arguments from the 'SparseCPU'"
    ):
        glasstorch.eye(2).to_sparse().squeeze()


@pytest.mark.parametrize(
    "makes",
    [
        ("eye.to_sparse()", "eye.to_sparse_csr()", "eye.to_sparse_bsr(1)", "eye.to_sparse_csr()"),
        ("eye.to_sparse_bsc((2, 1))", "eye.to_sparse_csc()"),
        ("torch.sparse_csc_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)", "eye.to_sparse_csr()"),
    ],
    ids=["CSR first", "BSC first", "CSC of its parts"],
)
def test_the_first_compressed_tensor_of_a_process_warns(makes: tuple[str, ...], require: Callable[[str], Any]) -> None:
    require("torch")
    expected, found = (warned_in_a_process(library, *makes) for library in ("torch", "glasstorch"))
    assert found == expected
    assert len(found[1]) == 1


def warned_in_a_process(library: str, *makes: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", WARNED, library, *makes],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference")},
        timeout=600,
    )
    return json.loads(done.stdout)
