"""Which files belong to a family of operators, and which serve all of them?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from glasstorch.dispatch.operator import Operator
from glasstorch.operators.families import NAMES
from glasstorch.operators.gen.formulas import helper_modules
from glasstorch.operators.whereabouts import LIBRARY, place_of, whereabouts

# The folders whose files are of families, those that stand in others first.
ROOMS = (
    "operators/shapes",
    "operators/composite",
    "kernels/cpu/fast",
    "kernels/cpu",
    "kernels/cuda",
    "kernels/meta",
    "kernels",
    "autograd/formulas",
)
# Files that serve every family, or several, and what for.
SERVE_ALL = {
    "operators/shapes/result.py": "what every shape function answers",
    "operators/shapes/promotion.py": "the dtype that operands have together",
    "operators/shapes/scalars.py": "a number as an element of a dtype",
    "operators/composite/aliases.py": "the kernel of every second name",
    "kernels/structured.py": "one kernel for three forms",
    "kernels/iterator.py": "TensorIterator",
    "kernels/loading.py": "registers all kernels",
    "kernels/quiet.py": "NumPy without warnings",
    "kernels/halves.py": "half precision in many loops",
    "operators/composite/with_number.py": "a number in the place of a tensor, for operators of several families",
    "kernels/with_number.py": "the same for the forms that write",
    "kernels/made_of_others.py": "operators that are made of others for every backend",
    "kernels/number_operands.py": "a number in the place of a tensor",
    "kernels/math_bits.py": "the fallback of conjugated and negated arguments",
    "kernels/backend_select.py": "the backend where no tensor names one",
    "kernels/cpu_fallback.py": "operators that a device lacks",
    "kernels/delegated.py": "operators that a device has in their out= form",
    "kernels/out/rows.py": "registers the out= forms that the operator table says nothing more of",
    "kernels/out/passed_on.py": "out= passed on to another operator",
    "kernels/out/copied.py": "out= written by a copy",
    "kernels/out/composed.py": "out= of operators made of others",
    "kernels/out/diagonals.py": "the out= form of diag",
    "kernels/filling.py": "in-place forms with a number that a tensor holds",
    "kernels/cpu/fast/thresholds.py": "from which sizes the fast paths pay",
    "kernels/cpu/fast/blocks.py": "arrays in pieces that stay in cache, and lines in order",
    "kernels/cpu/fast/iterator.py": "loops of several steps in blocks",
    "kernels/cpu/fast/halves.py": "half precision in blocks and by tables",
    "kernels/meta/shapes.py": "the kernel made from each shape function",
    "kernels/meta/decomposed.py": "the kernel for all backends, registered for meta",
    "kernels/meta/refusals.py": "the refusal of sizes that only data can tell",
    "kernels/cuda/tensors.py": "what every kernel asks about tensors",
    "kernels/cuda/units.py": "bytes that are moved at a time",
    "kernels/cuda/lines.py": "lines shared out among threads",
    "kernels/cuda/fill.cu": "the kernels that write numbers, of creation and of copies",
    "autograd/formulas/shared.py": "what formulas of several families call",
}
CALL = re.compile(r"\b(\w+)\(")
HELPERS = helper_modules()


def files() -> list[str]:
    """All files of the rooms, from the library's folder on; headers of CUDA C++ serve all kernels and are left out."""
    found = {path for room in ROOMS for kind in ("*.py", "*.cu") for path in (LIBRARY / room).rglob(kind)}
    return sorted(path.relative_to(LIBRARY).as_posix() for path in found if path.name != "__init__.py")


def family_of(file: str) -> str:
    """The name of a file in its room, or of its folder there: `views` for `operators/composite/views/pieces.py`."""
    room = next(room for room in ROOMS if file.startswith(f"{room}/"))
    return Path(file.removeprefix(f"{room}/")).parts[0].partition(".")[0]


def elsewhere(operator: Operator) -> Iterator[str]:
    """Where an operator is computed, or its result's sizes or its derivative, in a file of another family."""
    told = whereabouts(operator)
    places = [] if told.shape is None else [("shape", told.shape)]
    for key, kernels in operator.kernels.items():
        if kernels and (key.name in ("CPU", "CUDA", "Meta") or key.name.startswith("Composite")):
            places.append((key.name, place_of(kernels[-1], operator)))
    for _, formula in told.formulas:
        places += [(name, as_file(HELPERS[name])) for name in CALL.findall(formula) if name in HELPERS]
    for what, place in places:
        file = place.partition(":")[0]
        if file not in SERVE_ALL and family_of(file) != operator.family:
            yield f"{operator.name} is of the family {operator.family}; {what} is in {file}"


def as_file(module: str) -> str:
    """`glasstorch.autograd.formulas.views` as `autograd/formulas/views.py`."""
    return module.removeprefix("glasstorch.").replace(".", "/") + ".py"


def strangers() -> list[str]:
    """Files of the rooms that are neither a family's nor said to serve all."""
    return [file for file in files() if file not in SERVE_ALL and family_of(file) not in NAMES]
