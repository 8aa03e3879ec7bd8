"""What does the generator make of rows that are not in the library's yaml files, and does their operator run?

For the section that adds an operator. Nothing in the library changes: the rows are added to copies of its files, and
`on_trial` registers an operator for the length of a block.
"""

from __future__ import annotations

import difflib
import re
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAME = re.compile(r"^- func: (\w+)", re.MULTILINE)
WIDEST = 78  # of a message in a cell's output


def schemas_of(declaration: str) -> list[str]:
    """The schemas that the generator reads from a row of native_functions.yaml: its own, and those of `autogen`."""
    from glasstorch.operators.gen.model import load_functions

    with written("native_functions.yaml", declaration) as file:
        return [str(function.schema) for function in load_functions(file)]


def generated_lines(declaration: str, derivative: str) -> dict[str, list[str]]:
    """The lines that the generator writes for two rows, by the file in the library that gets them."""
    from glasstorch.operators.gen.__main__ import PACKAGE, render

    before, added = render(), {}
    with all_rows(declaration, derivative) as files:
        after = render(*files)
    for path, text in after.items():
        changes = difflib.unified_diff(before[path].splitlines(), text.splitlines(), n=0)
        added[path.relative_to(PACKAGE).as_posix()] = [line[1:] for line in changes if line[:1] == "+"][1:]
    return added


def generated_kernels(declaration: str, derivative: str) -> list[str]:
    """What the generator writes into the file of autograd kernels, as a text for each operator of the declaration."""
    from glasstorch.operators.gen.emit_autograd import emit_operators
    from glasstorch.operators.gen.formulas import helper_names
    from glasstorch.operators.gen.model import load_derivatives, load_functions

    (name,) = NAME.findall(declaration)
    with all_rows(declaration, derivative) as (declarations, derivatives):
        functions = load_functions(declarations)
        formulas = load_derivatives(functions, derivatives)
    return [text for text, _ in emit_operators(functions, formulas, helper_names(), name)]


def refusal_of(declaration: str, derivative: str) -> str:
    """What the generator says of two rows that it refuses, in one line; empty if it refuses neither."""
    from glasstorch.core.errors import SchemaError
    from glasstorch.operators.gen.emit_autograd import emit_operators
    from glasstorch.operators.gen.formulas import helper_names
    from glasstorch.operators.gen.model import load_derivatives, load_functions

    with written("native_functions.yaml", declaration) as declarations, written("derivatives.yaml", derivative) as rows:
        try:
            functions = load_functions(declarations)
            next(emit_operators(functions, load_derivatives(functions, rows), helper_names()))
        except SchemaError as error:
            return textwrap.shorten(str(error), WIDEST)
    return ""


@contextmanager
def on_trial(schema: str, kernel: Callable[..., Any], generated: str) -> Iterator[Any]:
    """Register an operator of `aten` until the block ends: its kernel for the CPU, and its autograd kernel as text."""
    import glasstorch
    from glasstorch.autograd.generated import autograd_kernels
    from glasstorch.library import Library

    name = schema.partition("(")[0]
    with Library("aten", "FRAGMENT") as lab:
        lab.define(schema)
        lab.impl(name, kernel, "CPU")

        class Autograd:
            """What the text calls to register its kernel."""

            @staticmethod
            def impl(name: str) -> Callable[[Callable[..., Any]], None]:
                return lambda function: lab.impl(name, function, "Autograd", with_keyset=True)

        names = vars(autograd_kernels) | {"AUTOGRAD": Autograd}
        names[f"_{name}"] = names["table"](name)
        text = f"from __future__ import annotations\n{generated}"
        exec(compile(text, "generated", "exec"), names)
        yield getattr(glasstorch.ops.aten, name)


@contextmanager
def all_rows(declaration: str, derivative: str) -> Iterator[tuple[Path, Path]]:
    """Copies of the library's two yaml files, each with a row more."""
    from glasstorch.operators.gen.model import DERIVATIVES, NATIVE_FUNCTIONS

    with (
        written(NATIVE_FUNCTIONS.name, NATIVE_FUNCTIONS.read_text(encoding="utf-8") + declaration) as declarations,
        written(DERIVATIVES.name, DERIVATIVES.read_text(encoding="utf-8") + derivative) as derivatives,
    ):
        yield declarations, derivatives


@contextmanager
def written(name: str, text: str) -> Iterator[Path]:
    """A file of this name with this text, for the length of a block."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        yield file
