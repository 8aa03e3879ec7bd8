"""How are operators grouped into families, and where does PyTorch keep each?

The only grouping of operators: the sections of `native_functions.yaml` and `derivatives.yaml`, the files in
`operators/shapes`, `operators/composite`, `kernels/` and `autograd/formulas`, their tests and the book's pages on
operators have these names, in this order. A family is a file `<name>.py` or a folder `<name>/` in each room.

Mirrors: the files of aten/src/ATen/native
Differs: a family has one name in every folder; PyTorch's layers group operators differently.
"""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """A group of related operators."""

    name: str  # of its section, files and folders
    says: str  # what its operators do, in one sentence
    mirrors: str  # files in aten/src/ATen/native

    @property
    def title(self) -> str:
        """`complex numbers`: the name as words."""
        return self.name.replace("_", " ")


FAMILIES = (
    Family(
        "creation",
        "New tensors: uninitialised, filled, ranges, and window functions for signals.",
        "TensorFactories.cpp, RangeFactories.cpp",
    ),
    Family(
        "random",
        "Tensors of random numbers, and distributions drawn in place.",
        "Distributions.cpp, TensorFactories.cpp (rand, randn, randint, randperm)",
    ),
    Family(
        "pointwise",
        "Each element computed from the elements at its position: arithmetic, comparison, rounding, selection.",
        "BinaryOps.cpp, UnaryOps.cpp, PointwiseOps.cpp, Pow.cpp, Lerp.cpp, TensorCompare.cpp",
    ),
    Family(
        "special",
        "Special functions: error, gamma and Bessel functions, orthogonal polynomials.",
        "UnaryOps.cpp, BinaryOps.cpp, Math.h",
    ),
    Family(
        "reductions",
        "One value computed over some dimensions: sums, products, extrema, moments, counts.",
        "ReduceOps.cpp, TensorCompare.cpp (max, min), ReduceAllOps.cpp",
    ),
    Family("scans", "Cumulative sums, products and extrema along a dimension.", "ReduceOps.cpp (cumsum, cummax)"),
    Family(
        "statistics",
        "Covariances and correlations, and elements counted by value or by bin.",
        "Correlation.cpp, Histogram.cpp, SummaryOps.cpp",
    ),
    Family(
        "calculus",
        "Differences, and integrals and derivatives of sampled functions.",
        "Integration.cpp, ReduceOps.cpp (diff, gradient)",
    ),
    Family(
        "sorting",
        "Sorting, and selection by rank: medians, quantiles, the k largest elements.",
        "Sorting.cpp, TensorCompare.cpp (mode)",
    ),
    Family(
        "searching",
        "Elements looked up among others, sorted or not.",
        "Bucketization.cpp, TensorCompare.cpp (isin)",
    ),
    Family("unique", "The distinct elements of a tensor.", "Unique.cpp"),
    Family(
        "indexing",
        "Elements picked and placed by indices and masks.",
        "TensorAdvancedIndexing.cpp, IndexingUtils.h, cpu/ScatterGatherKernel.cpp",
    ),
    Family(
        "views",
        "The same elements with other sizes and strides, and the copying forms of views.",
        "TensorShape.cpp, TensorConversions.cpp (view_dtype)",
    ),
    Family(
        "joining",
        "Several tensors joined into one, and grids of all combinations of elements.",
        "TensorShape.cpp (cat, stack, meshgrid), Itertools.cpp",
    ),
    Family(
        "transformations",
        "Elements reordered, repeated or placed on a diagonal, and triangular parts of matrices.",
        "TensorTransformations.cpp, TriangularOps.cpp, Repeat.cpp, TensorShape.cpp (repeat, diag)",
    ),
    Family("padding", "Tensors enlarged or cut at their borders.", "PadNd.cpp"),
    Family(
        "copies",
        "Copies, conversions to other dtypes and devices, filling, and setting and resizing of storage.",
        "Copy.cpp, TensorConversions.cpp, Fill.cpp, Resize.cpp, TypeProperties.cpp",
    ),
    Family(
        "complex_numbers",
        "Parts and conjugates of complex numbers, and complex numbers built from their parts.",
        "ComplexHelper.h, UnaryOps.cpp (conj, real, imag), cpu/ComplexKernel.cpp",
    ),
    Family(
        "matmul",
        "Products of matrices and vectors, alone and added to a tensor.",
        "LinearAlgebra.cpp (mm, bmm, addmm, matmul), Blas.cpp, Linear.cpp",
    ),
    Family(
        "linalg",
        "Factors, solutions, spectra and norms of matrices, and chains of products.",
        "BatchLinearAlgebra.cpp, LinearAlgebra.cpp, Linear.cpp (einsum, tensordot)",
    ),
    Family("distances", "Distances between the rows of matrices.", "Distance.cpp"),
    Family("fft", "Fourier transforms, and spectrograms made of them.", "SpectralOps.cpp, mkl/SpectralOps.cpp"),
    Family(
        "resampling",
        "Signals, images and volumes at another size, or at the places of a grid.",
        "UpSample.cpp, UpSampleNearest2d.cpp, UpSampleBilinear2d.cpp, UpSampleBicubic2d.cpp, GridSampler.cpp, "
        "AffineGridGenerator.cpp",
    ),
    Family(
        "embedding",
        "Rows of a table at indices, one by one and in bags.",
        "Embedding.cpp, EmbeddingBag.cpp, Onehot.cpp",
    ),
    Family(
        "normalization",
        "Means taken away and deviations divided by: over batches, last dimensions, groups of channels.",
        "Normalization.cpp, layer_norm.cpp, group_norm.cpp",
    ),
    Family(
        "pooling",
        "Windows of images and volumes reduced to their largest element or their average.",
        "Pooling.cpp, Pool.h, DilatedMaxPool2d.cpp, AveragePool2d.cpp, AdaptiveAveragePooling.cpp, "
        "FractionalMaxPool2d.cpp, MaxUnpooling.cpp",
    ),
    Family(
        "activation",
        "Functions of each element that stand between the layers of a network, and gates.",
        "Activation.cpp, GatedLinearUnit.cpp",
    ),
    Family("dropout", "Elements or channels that are dropped at random.", "Dropout.cpp"),
    Family("softmax", "Exponentials that sum to one along a dimension, and their logarithms.", "SoftMax.cpp"),
    Family(
        "attention",
        "Values averaged by how well their keys answer queries.",
        "transformers/attention.cpp, transformers/sdp_utils_cpp.cpp, cpu/FlashAttentionKernel.cpp",
    ),
    Family(
        "recurrent",
        "States carried from one time step to the next, by cells and by layers of them.",
        "RNN.cpp, PackedSequence.cpp, mkldnn/RNN.cpp",
    ),
    Family(
        "convolution",
        "Kernels that slide over signals, images and volumes, and what they read.",
        "Convolution.cpp, ConvolutionMM2d.cpp, NaiveConvolutionTranspose2d.cpp, ConvolutionTBC.cpp, Im2Col.cpp, "
        "Col2Im.cpp",
    ),
    Family(
        "foreach",
        "An operator for each tensor of a list, and steps of optimizers in one call for all parameters.",
        "ForeachOpsKernels.cpp, ForeachUtils.h, FusedAdam.cpp, FusedSGD.cpp, FusedAdagrad.cpp",
    ),
    Family("loss", "How far predictions are from targets.", "Loss.cpp, LossNLL.cpp, LossNLL2d.cpp"),
    Family(
        "sparse",
        "Tensors of which only some elements are specified: made, taken apart, and turned into strided ones and back.",
        "sparse/SparseTensor.cpp, sparse/SparseCsrTensor.cpp, sparse/SparseTensorMath.cpp",
    ),
    Family(
        "nested",
        "Batches of sequences of several lengths: packed, padded, and viewed as one tensor.",
        "nested/NestedTensorUtils.cpp, nested/NestedTensorMath.cpp, cpu/PaddingKernel.cpp",
    ),
)

NAMES = tuple(family.name for family in FAMILIES)
