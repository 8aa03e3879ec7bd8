"""Which programs does the operator table give, and what does a caller see of one?

`draw` makes a function of some tensors: each step is a row of the table, or its in-place form, on what the steps before
it gave. Sizes, dtypes and layouts are mixed, inputs may share memory and may require gradients. A step that eager
refuses, whose gradient eager refuses, or whose result is not finite, is not taken. `observe` gives all that a caller
can see of one run.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

import glasstorch
from glasstorch.core.dtype import BY_NAME
from glasstorch.dispatch.operator import Operator
from glasstorch.jit.codegen.formulas import FUSIBLE
from glasstorch.jit.passes.peephole import RULES
from tests.agreement.oracles import FORMS, TOLERANCE, operator, tensors_in
from tests.agreement.samples import Call, Row, T, arrays, call, in_library, row
from tests.agreement.table import OWN

Tensor = glasstorch.Tensor
SEED = 0  # of the random numbers that a program draws
LARGEST = 1e4  # what is above is not looked at any more: rounding would decide what comes next
SHAPES = ((2, 3), (2, 3), (3, 2), (3,), (2, 1), (), (2, 3, 2), (3, 4), (0, 3), (5,))
DTYPES = ("float64", "float64", "float32", "float32", "int64", "bool", "float16", "bfloat16", "int32", "uint8")
LAYOUTS = ("row-major", "row-major", "transposed", "stepped")

# What the table leaves out, as nothing is an oracle for it but a run from the same seed.
RANDOM = (
    row("rand", lambda *_: None, call([2, 3]), dtypes=("float32",)),
    row("randn", lambda *_: None, call([3]), dtypes=("float32",)),
)
CHOICES = tuple(  # without aliases, which no trace holds
    row for row in (*OWN, *RANDOM) if all(result.type.is_tensor_like for result in operator(row.op).schema.returns)
)
SMOOTH = tuple(row for row in CHOICES if row.differentiable)
# What the passes look for: as the table grows, a program must still hold enough of it.
REWRITTEN = {kind.removeprefix("aten::") for kind in RULES}
SOUGHT = frozenset(row.op for row in CHOICES if row.op in FUSIBLE or row.op.partition(".")[0] in REWRITTEN)
TRIES = 200  # at a call of a row that is to come first or second
HALF = -(-len(CHOICES) // 2)  # programs after which every row has been the first or second of one
IN_PLACE = {functional: name for name, functional in FORMS.items() if operator(name).schema.name.endswith("_")}


class Ref(NamedTuple):
    """Value number `i` of a program: its inputs, then what its steps gave."""

    i: int


class Step(NamedTuple):
    """One call: an operator and its arguments, Refs for values of the program."""

    operator: Operator
    args: list[Any]
    kwargs: dict[str, Any]

    @property
    def writes(self) -> bool:
        """Whether it changes a tensor in place."""
        return _writes(self.operator)

    def run(self, values: list[Any]) -> list[Any]:
        def filled(given: Any) -> Any:
            if isinstance(given, list):
                return [filled(one) for one in given]
            return values[given.i] if isinstance(given, Ref) else given

        result = self.operator(*map(filled, self.args), **{name: filled(one) for name, one in self.kwargs.items()})
        return list(result) if isinstance(result, tuple | list) else [result]


class Input(NamedTuple):
    """One input: how its memory is filled, and how it lies there."""

    spec: T
    array: np.ndarray[Any, Any]
    requires_grad: bool
    shares: bool  # whether it has the memory of the input before it, if that is of its sizes and dtype


class Program:
    """A function of tensors; `print` shows its steps."""

    def __init__(self, inputs: list[Input]) -> None:
        self.given = inputs
        self.steps: list[Step] = []
        self.outputs: Any = None  # a Ref, or a tuple of them and of tuples
        self.tolerance = 0.0  # of the coarsest dtype in it

    def __call__(self, *inputs: Tensor) -> Any:
        values = list(inputs)
        for step in self.steps:
            values += step.run(values)
        return _chosen(self.outputs, values)

    def inputs(self) -> tuple[list[Tensor], list[Tensor]]:
        """New inputs, and the leaves that they were made of: no input is a leaf, so that all may be written to."""
        leaves: list[Tensor] = []
        inputs: list[Tensor] = []
        for spec, array, requires_grad, shares in self.given:
            ((laid,), _) = in_library(glasstorch, Call((spec,)), ((array,), {}))
            if shares and inputs and inputs[-1].shape == laid.shape and inputs[-1].dtype is laid.dtype:
                inputs.append(inputs[-1].view(laid.shape) if laid.dim() else inputs[-1].view([]))
                continue
            if spec.layout == "stepped":  # a view, whose gradient is wanted: nobody may write to it
                memory = laid.as_strided((laid.untyped_storage().nbytes() // laid.element_size(),), (1,), 0)
                leaf = memory.clone().requires_grad_(requires_grad)
                inputs.append(leaf.clone().as_strided(laid.shape, laid.stride(), laid.storage_offset()))
            else:
                leaf = laid.clone().requires_grad_(requires_grad)
                inputs.append(leaf.clone())
            leaves.append(leaf)
        return inputs, leaves

    def __str__(self) -> str:
        lines = [f"{spec} requires_grad={grad} shares={shares}" for spec, _, grad, shares in self.given]
        lines += [f"{step.operator.name} {step.args} {step.kwargs}" for step in self.steps]
        return "\n".join([*lines, f"return {self.outputs}"])


def _chosen(structure: Any, values: list[Any]) -> Any:
    if isinstance(structure, Ref):
        return values[structure.i]
    return tuple(_chosen(one, values) for one in structure)


# Drawing ----------------------------------------------------------------------------------------------------------


def draw(seed: int, length: int = 10) -> Program:
    """A program of so many steps, always the same for one seed; row number `seed` of the table comes first.

    Row number `seed + HALF` comes second, where it finds something to work on.

    In every third program all other steps are differentiable and nearly everything is of one dtype, so that gradients
    go a long way. Where eager has no gradient of the rows that come first, no input requires one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for attempt in range(20):
            ahead = [CHOICES[row % len(CHOICES)] for row in (seed, seed + HALF)]
            writer = _Writer(Random(f"{seed} {attempt}"), ahead, smooth=seed % 3 == 0, may_have_gradients=attempt < 5)
            program = writer.program(length)
            if program is not None:
                return program
    raise AssertionError(f"no program was found for seed {seed}")


class _Writer:
    """Makes one program, running it step by step."""

    def __init__(self, random: Random, ahead: list[Row], smooth: bool, may_have_gradients: bool) -> None:
        self.random = random
        self.rows = SMOOTH if smooth else CHOICES
        self.sought = [row for row in self.rows if row.op in SOUGHT]
        self.dtypes = (random.choice(["float32", "float64"]),) if smooth else DTYPES
        self.wants_grad = may_have_gradients and (smooth or random.random() < 0.6)
        self.ahead = ahead
        self.fitting = [spec.shape for row in ahead for sample in row.calls for spec in tensors_in(sample)]
        self.tries = 0
        self.steps: list[Step] = []
        self.constants: set[int] = set()  # where the memory of constants is: nobody may write to it

    def program(self, length: int) -> Program | None:
        """One program; None if eager refuses its gradient, or finds it too large."""
        given = [one for row in self.ahead for one in self.inputs_for(row)]
        given += [self.input() for _ in range(self.random.choice([0, 1, 2] if given else [1, 2, 3]))]
        program = Program(given)
        self.steps = program.steps
        values, leaves = self.start(program)
        while len(self.steps) < length:
            found = self.step(values)
            if found is None:
                continue
            step, writes = found
            if writes and _address(values[step.args[0].i]) in self.constants:  # where it would stay written
                continue
            try:
                results = step.run(values)
                fits = self.accepts(step, values, results)
                if fits and writes:
                    _gradients(values, leaves)
            except (RuntimeError, ValueError, TypeError, IndexError, Warning):
                fits = False
            if fits:
                self.steps.append(step)
                values += results
            elif writes:  # what it wrote stays written
                try:
                    values, leaves = self.start(program)
                except RuntimeError:
                    return None
        program.outputs = self.structure(program, values)
        program.tolerance = max(TOLERANCE.get(value.dtype.name, 0.0) for value in values)
        try:  # as a whole, as steps that were not taken drew random numbers too
            found = [g for g in _gradients(*self.start(program)) if g is not None]
        except RuntimeError:
            return None
        return program if all((np.abs(g.astype(np.float64)) < LARGEST).all() for g in found) else None

    def inputs_for(self, row: Row) -> list[Input]:
        """What one call of the row takes: the first tensor, and some of the others."""
        sample = self.random.choice(row.calls)
        args, kwargs = arrays(row, sample, self.dtype_for(row, sample))
        found = []
        for spec, array in zip(tensors_in(sample), _arrays_in([*args, *kwargs.values()]), strict=True):
            if not found or self.random.random() < 0.3:
                requires_grad = self.wants_grad and array.dtype.name in TOLERANCE and self.random.random() < 0.8
                found.append(Input(spec, array, requires_grad, False))
        return found

    def dtype_for(self, row: Row, sample: Call) -> str:
        """A dtype for a call of the row; one of the program's, if the call takes any of them."""
        names = [d for d in (sample.dtypes or row.dtypes) if d in row.dtypes]
        return self.random.choice([d for d in names if d in self.dtypes] or names)

    def input(self) -> Input:
        name = self.random.choice(self.dtypes)
        shape = self.random.choice(self.fitting if self.fitting and self.random.random() < 0.5 else SHAPES)
        spec = T(shape, dtype=name, layout=self.random.choice(LAYOUTS))
        random = np.random.default_rng(self.random.randrange(1 << 32))
        array = random.uniform(-2, 2, shape) if name in TOLERANCE else random.integers(0, 3, shape)
        requires_grad = self.wants_grad and name in TOLERANCE and self.random.random() < 0.8
        return Input(spec, np.asarray(array).astype(BY_NAME[name].numpy), requires_grad, self.random.random() < 0.3)

    def start(self, program: Program) -> tuple[list[Any], list[Tensor]]:
        values, leaves = program.inputs()
        glasstorch.manual_seed(SEED)
        for step in program.steps:
            values += step.run(values)
        return values, leaves

    def step(self, values: list[Any]) -> tuple[Step, bool] | None:
        """A call on what there is, and whether it writes; None where this one finds nothing to work on."""
        comes = len(self.steps) < len(self.ahead) and self.tries < TRIES * (1 + len(self.steps))
        if self.steps and not comes and self.random.random() < 0.15:  # the same again
            again = self.random.choice(self.steps)
            return again, again.writes
        self.tries += 1
        if comes:
            chosen = self.ahead[len(self.steps)]
        else:
            chosen = self.random.choice(self.sought if self.random.random() < 0.4 else self.rows)
        written = IN_PLACE.get(chosen.op)
        writes = written is not None and self.random.random() < 0.35
        called = operator(written) if writes and written is not None else operator(chosen.op)
        sample = self.random.choice(chosen.calls)
        args, kwargs = in_library(glasstorch, sample, arrays(chosen, sample, self.dtype_for(chosen, sample)))
        writes = _writes(called)
        replaced = Counter[bool]()

        def replace(given: Any) -> Any:
            if isinstance(given, list):
                return [replace(one) for one in given]
            if not isinstance(given, Tensor):
                return given
            is_first = not replaced.total()
            ref = self.value_like(given, values, must=is_first and writes, fitting=comes)
            replaced[ref is not None] += 1
            if ref is None:
                self.constants.add(_address(given))
            return given if ref is None else ref

        step = Step(called, [replace(one) for one in args], {name: replace(one) for name, one in kwargs.items()})
        if writes and not isinstance(step.args[0], Ref):
            return None
        return (step, writes) if replaced[True] or (not replaced.total() and self.random.random() < 0.3) else None

    def value_like(self, sample: Tensor, values: list[Any], must: bool, fitting: bool) -> Ref | None:
        """A value of the sample's sizes and dtype, or of its sizes, or any; an index stays as it is."""
        if sample.dtype.name == "int64" and not must and self.random.random() < 0.8:
            return None
        alike = [i for i, value in enumerate(values) if value.shape == sample.shape]
        same = [i for i in alike if values[i].dtype is sample.dtype]
        roll = self.random.random()
        others = 1.0 if must else 0.93 if fitting else 0.97
        for candidates, limit in ((same, 0.85), (alike, 0.93), (range(len(values)), others)):
            if candidates and roll < limit:
                return Ref(max(self.random.choices(candidates, k=2)))
        return None

    def accepts(self, step: Step, values: list[Any], results: list[Any]) -> bool:
        """Whether results are small and finite, and have memory: one operator takes any sizes, unchecked."""
        given = step.args[0] if step.args else None
        if (
            step.operator.name == "aten::_reshape_alias"
            and isinstance(given, Ref)
            and results[0].numel() > values[given.i].numel()
        ):
            return False
        for result in results:
            array = result.detach().host_array().astype(np.float64)
            if result.numel() > 100 or not (np.abs(array) < LARGEST).all():
                return False
        return True

    def structure(self, program: Program, values: list[Any]) -> Any:
        """One value, or up to three in a tuple, two of them in a tuple of their own; most often late ones."""
        count = self.random.choice([1, 1, 2, 3])
        late = range(len(program.given), len(values))
        chosen = [
            Ref(self.random.choice(late[-6:] if self.random.random() < 0.7 else range(len(values))))
            for _ in range(count)
        ]
        if count == 1:
            return chosen[0]
        return tuple(chosen) if count == 2 else (chosen[0], (chosen[1], chosen[2]))


def _arrays_in(given: list[Any]) -> Iterator[np.ndarray[Any, Any]]:
    for one in given:
        if isinstance(one, list):
            yield from _arrays_in(one)
        elif isinstance(one, np.ndarray):
            yield one


def _writes(called: Operator) -> bool:
    return any(argument.type.is_write for argument in called.schema.arguments)


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


# Seeing -----------------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What a caller sees: `facts` are the same or not, numbers may be close."""

    facts: list[Any]
    values: list[np.ndarray[Any, Any]]
    gradients: list[np.ndarray[Any, Any] | None]


def observe(program: Program, run: Callable[..., Any]) -> Seen:
    """One run on new inputs: the outputs and inputs afterwards, which are one or share memory, and the gradients."""
    inputs, leaves = program.inputs()
    glasstorch.manual_seed(SEED)
    tensors = [*_flat(run(*inputs)), *inputs]
    facts = [
        [(tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad) for tensor in tensors],
        [[a is b for a in tensors] for b in tensors],
        [[a.numel() > 0 and _address(a) == _address(b) for a in tensors] for b in tensors],
    ]
    values = [tensor.detach().host_array().copy() for tensor in tensors]
    return Seen(facts, values, _gradients(tensors, leaves))


def observe_twice(program: Program, run: Callable[..., Any]) -> list[np.ndarray[Any, Any] | None] | None:
    """The gradients of the sum of all gradients, after one run; None where there are none."""
    inputs, leaves = program.inputs()
    glasstorch.manual_seed(SEED)
    outputs = [tensor for tensor in (*_flat(run(*inputs)), *inputs) if tensor.requires_grad]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    seeds = [glasstorch.full_like(output, 0.25 * (i + 1)) for i, output in enumerate(outputs)]
    first = glasstorch.autograd.grad(outputs, wanted, seeds, allow_unused=True, create_graph=True)
    again = [gradient for gradient in first if gradient is not None and gradient.requires_grad]
    return _gradients(again, leaves) if again else None


def _flat(result: Any) -> Iterator[Tensor]:
    if isinstance(result, tuple):
        for one in result:
            yield from _flat(one)
    else:
        yield result


def _gradients(tensors: list[Tensor], leaves: list[Tensor]) -> list[np.ndarray[Any, Any] | None]:
    """The gradients of the leaves that require one, each tensor weighed by numbers of its own."""
    outputs = [tensor for tensor in tensors if tensor.requires_grad]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not outputs or not wanted:
        return []
    seeds = [glasstorch.full_like(output, 0.25 * (i + 1)) for i, output in enumerate(outputs)]
    found = glasstorch.autograd.grad(outputs, wanted, seeds, allow_unused=True, retain_graph=True)
    return [None if gradient is None else gradient.host_array().copy() for gradient in found]
