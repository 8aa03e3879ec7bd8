"""Which names of PyTorch are left out on purpose?

Mirrors: nothing; PyTorch has all its names
"""

from __future__ import annotations

from typing import Final

QUANTIZED = "there are no quantized dtypes"
SCALED = "there are no products of scaled matrices, nor of matrices in groups"
PROCESSES = "there are no groups of processes"
NOTES = "it is a text that PyTorch puts into its own docstrings"
CLASSES = "there are no classes that C++ registers for scripts"
COMPILED = "it is for compiled kernels"
GIVEN_UP = "PyTorch has given up its data pipes"
HALF_LEFT_OUT = "products of matrices with two of four elements left out are for the tensor cores of a GPU"
ELSEWHERE = "it splits a program for another compiler, of which there is none"
TYPED = "graphs are not checked for the sizes that annotations name"
FOR_REGIONS = "a region is captured in each place where it is called"
IN_GUARDS = "what must be true of sizes is checked by guards, or by the program's own torch._check"
ONEDNN = "there is no layout of oneDNN's own"
FOR_FUNCTIONALIZATION = "it is a part of PyTorch's functionalization, and nothing that programs call"
OF_QUANTIZED = (
    *("dequantize", "int_repr", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points"),
    *("q_scale", "q_zero_point", "qscheme"),
)  # methods

LEFT_OUT: Final = {
    "torch.classes": CLASSES,
    "torch.nn.intrinsic": QUANTIZED,
    "torch.sparse.semi_structured": HALF_LEFT_OUT,
    "torch.sparse.solve": "PyTorch lists the name, and has no function of it either",
    "torch.sparse.spsolve": "PyTorch has it on a GPU only, over a library that it is not built with",
    "torch.nn.qat": QUANTIZED,
    "torch.nn.quantizable": QUANTIZED,
    "torch.nn.quantized": QUANTIZED,
    "torch.nn.functional.grouped_mm": SCALED,
    "torch.nn.functional.scaled_mm": SCALED,
    "torch.nn.functional.scaled_grouped_mm": SCALED,
    "torch.nn.functional.ScalingType": SCALED,
    "torch.nn.functional.SwizzleType": SCALED,
    "torch.nn.functional.reproducibility_notes": NOTES,
    "torch.nn.functional.sparse_support_notes": NOTES,
    "torch.nn.functional.tf32_notes": NOTES,
    "torch.nn.attention.flex_attention": COMPILED,
    "torch.nn.attention.varlen": COMPILED,
    "torch.nn.parallel.DistributedDataParallelCPU": PROCESSES,
    "torch.utils.data.datapipes.dataframe": GIVEN_UP,
    "torch.utils.data.datapipes.iter": GIVEN_UP,
    "torch.utils.data.datapipes.map": GIVEN_UP,
    "torch.utils.data.graph": GIVEN_UP,
    "torch.utils.data.graph_settings": GIVEN_UP,
    "torch.sparse.SparseSemiStructuredTensor": HALF_LEFT_OUT,
    "torch.sparse.SparseSemiStructuredTensorCUSPARSELT": HALF_LEFT_OUT,
    "torch.sparse.SparseSemiStructuredTensorCUTLASS": HALF_LEFT_OUT,
    "torch.sparse.to_sparse_semi_structured": HALF_LEFT_OUT,
    "torch.fx.passes.splitter_base": ELSEWHERE,
    "torch.fx.passes.net_min_base": ELSEWHERE,
    "torch.fx.passes.backends": "there are no graphs of CUDA",
    "torch.fx.passes.regional_inductor": FOR_REGIONS,
    "torch.fx.passes.regional_inductor_invoke_subgraph": FOR_REGIONS,
    "torch.fx.passes.runtime_assert": IN_GUARDS,
    "torch.fx.experimental.accelerator_partitioner": ELSEWHERE,
    "torch.fx.experimental.partitioner_utils": ELSEWHERE,
    "torch.fx.experimental.graph_gradual_typechecker": TYPED,
    "torch.fx.experimental.refinement_types": TYPED,
    "torch.fx.experimental.migrate_gradual_types": TYPED,
    "torch.fx.experimental.unification": TYPED,
    "torch.fx.experimental.unify_refinements": TYPED,
    "torch.fx.experimental.validator": "what a ShapeEnv concludes is not proved by z3",
    "torch.Tensor.__dlpack_c_exchange_api__": "it is a table of functions in C",
    "torch.Tensor.__setstate__": "it reads pickles from before PyTorch 0.4",
    "torch.Tensor.slice_inverse": FOR_FUNCTIONALIZATION,
    "torch.Tensor.to_mkldnn": ONEDNN,
    **{f"torch.Tensor.{name}": QUANTIZED for name in OF_QUANTIZED},
}

# Names of torch.Tensor that Tensor does not have.
MISSING_METHODS: Final = (
    *OF_QUANTIZED,
    *("slice_inverse", "to_mkldnn"),
)


def reason_for(path: str) -> str | None:
    """Why a name of PyTorch, or a module that it is in, is left out; None for a name that is not left out on purpose.

    >>> reason_for("torch.nn.quantized.Linear")
    'there are no quantized dtypes'
    """
    while path:
        if path in LEFT_OUT:
            return LEFT_OUT[path]
        path = path.rpartition(".")[0]
    return None
