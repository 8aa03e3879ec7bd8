"""Which properties of an operator does a tag state?

Mirrors: aten/src/ATen/native/tags.yaml, torch.Tag (torch/csrc/utils/python_dispatch.cpp, initDispatchBindings)
Differs: tags of our own, besides PyTorch's, state facts that PyTorch keeps in lists of names. The table of operators
    does not say `pt2_compliant_tag`, which every operator of the library's has.
"""

from __future__ import annotations

from enum import Enum
from typing import Self


class Tag(Enum):
    """A property of operators: what it means, and whether only this library has it.

    >>> Tag.inplace_view.meaning
    'It changes sizes, strides or storage of its argument, but no element.'
    """

    meaning: str
    ours: bool

    def __new__(cls, meaning: str, ours: bool = False) -> Self:
        tag = object.__new__(cls)
        tag._value_ = len(cls.__members__)
        tag.meaning, tag.ours = meaning, ours
        return tag

    def __int__(self) -> int:
        number: int = self._value_
        return number

    core = ("It remains when a program is decomposed into core operators.",)
    cudagraph_unsafe = ("It may not be captured in a CUDA graph.",)
    data_dependent_output = ("It returns a number that depends on the elements of its arguments.",)
    dynamic_output_shape = ("The sizes of its result depend on the elements of its arguments.",)
    flexible_layout = ("A compiler may give it arguments of any strides.",)
    generated = ("PyTorch's generator adds this form for completeness; no function calls it, except copies of views.",)
    inplace = ("It writes its result into its first argument and returns that.",)
    inplace_view = ("It changes sizes, strides or storage of its argument, but no element.",)
    maybe_aliasing_or_mutating = ("Its result may share memory with an argument, although the schema does not say so.",)
    needs_contiguous_strides = ("A compiler must give it contiguous arguments.",)
    needs_exact_strides = ("A compiler must give it arguments with exactly the strides of the program.",)
    needs_fixed_stride_order = ("A compiler must give it arguments whose strides have the order of the program's.",)
    nondeterministic_bitwise = ("Two calls with equal arguments may differ in the last bits.",)
    nondeterministic_seeded = ("It draws random numbers from a generator.",)
    out = ("It writes its results into the tensors given as out= and returns those.",)
    out_variant = ("It computes into tensors that it is given, and its schema follows the form of PyTorch's compiler.",)
    pointwise = ("Each element of the result is computed from the elements at the same index in the arguments.",)
    pt2_compliant_tag = ("Compilers and exporters may use it: it computes what its schema and fake kernel say.",)
    reduction = ("It reduces many values to one, over some dimensions or all.",)
    view_copy = ("It is a view operator whose result is a copy.",)

    # Ours
    numbers_as_tensors = (
        "A Python number may stand for any of its tensors: should_allow_numbers_as_tensors (python_arg_parser.cpp).",
        True,
    )
    uninitialised = ("The elements of its result are whatever was in memory before.", True)
    undeclared_alias = (
        "As `maybe_aliasing_or_mutating`, for its first tensor or list of tensors, where PyTorch has no tag.",
        True,
    )
    by_strides = ("It is composed of other operators, and the strides of its argument decide which.", True)
    cheap = (
        "It costs less than a pass through memory: get_default_op_list in torch/_functorch/partitioners.py.",
        True,
    )
    recomputable = (
        "A backward pass may compute it again, although it is neither pointwise nor a view: get_default_op_list there.",
        True,
    )
    compute_intensive = ("Its work grows faster than its memory, so that a backward pass saves its result.", True)
    eager_gradient = (
        "Its gradient is not derived in a graph: it depends on the elements of an index or on storage positions.",
        True,
    )
    iterated = (
        "Its kernel runs over a TensorIterator, as that of a pointwise operator; PyTorch has no such tag.",
        True,
    )
    structured = (
        "Of a device its functional and in-place forms need only its out= form: PyTorch's `structured_delegate`.",
        True,
    )
    lays_out = ("It chooses the strides of an out= tensor that is resized, and is not `iterated`.", True)
    no_gradient_view = ("Its result is a view that shares the version counter; no gradient flows through it.", True)
    no_view = ("Its result is its argument, although the schema declares a view.", True)
    of_its_level = ("A transform takes its result as made at its level, not as captured: SPECIAL_GRAD_CASE.", True)
    no_integer_history = ("It records nothing if it writes to a tensor of integers.", True)
    of_values = (
        "Of a sparse tensor it is the same function of the values: it maps 0 to 0, and the rest stays unspecified.",
        True,
    )
    resizes = (
        "It increments the version only if the sizes change: resize_ in ADInplaceOrView (VariableTypeManual.cpp).",
        True,
    )
    conversion = ("Its `dtype` may be one of integers, although its argument requires a gradient.", True)
    overlap_unjudged = ("PyTorch lets its out= form write to any memory.", True)
    overlap_with_input = ("PyTorch lets its out= form write to memory of an argument.", True)
    indices_with_data = ("On the device meta, its index tensors may have data although the others have none.", True)
    beside_first = (
        "Of tensors with data and meta tensors, its uninitialised result is where its first tensor is.",
        True,
    )
    beside_second = (
        "Of tensors with data and meta tensors, its uninitialised result is where its second tensor is.",
        True,
    )
    decomposed_on_meta = (
        "Its kernel for all backends is registered for meta too: PyTorch has a decomposition of it in Python there.",
        True,
    )
    strided_only = (
        "A kernel for every backend is registered for each device, as in PyTorch, so that it serves no sparse tensor.",
        True,
    )
    needs_data = ("It needs the data of its arguments, and so refuses meta tensors.", True)
