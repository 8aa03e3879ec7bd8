"""Do programs that are written for any array library run on our arrays?

SciPy asks for its setting when it is first imported, so they run in a process of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import json
import warnings
import numpy as np
import glasstorch
import scipy.special
import scipy.stats
from sklearn import config_context
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge

random = np.random.default_rng(4)
data = random.normal(size=(60, 4))
line = data @ np.array([1.0, -2.0, 0.5, 3.0]) + 0.1 * random.normal(size=60)
classes = (line > 0).astype(np.int64)
x, y, z = (glasstorch.from_numpy(array.copy()) for array in (data, line, classes))
found = {}

def compare(name, ours, numpys):
    assert type(ours) is glasstorch.Tensor, name
    assert ours.dtype is glasstorch.from_numpy(np.asarray(numpys)).dtype, name
    found[name] = float(np.abs(ours.numpy() - numpys).max())

compare("logsumexp", scipy.special.logsumexp(x, axis=1), scipy.special.logsumexp(data, axis=1))
compare("weighted", scipy.special.logsumexp(x, b=x**2), scipy.special.logsumexp(data, b=data**2))
compare("zscore", scipy.stats.zscore(x, axis=0, ddof=1), scipy.stats.zscore(data, axis=0, ddof=1))
for make, target, wanted in (
    (lambda: LinearDiscriminantAnalysis(), z, classes),
    (lambda: Ridge(alpha=0.3, solver="svd"), y, line),
):
    with config_context(array_api_dispatch=True):
        model = make().fit(x, target)
        predicted = model.predict(x)
    plain = make().fit(data, wanted)
    name = type(model).__name__
    compare(f"coefficients of {name}", model.coef_, plain.coef_)
    compare(f"predictions of {name}", predicted, plain.predict(data))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def differences() -> dict[str, float]:
    """How far each answer is from NumPy's."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True, text=True, encoding="utf-8", check=False, env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


@pytest.mark.parametrize(
    "name",
    [
        "logsumexp", "weighted", "zscore", "coefficients of LinearDiscriminantAnalysis",
        "predictions of LinearDiscriminantAnalysis", "coefficients of Ridge", "predictions of Ridge",
    ],
)  # fmt: skip
def test_scipy_and_scikit_learn_give_numpys_answers(differences: dict[str, float], name: str) -> None:
    assert differences[name] < 1e-12
