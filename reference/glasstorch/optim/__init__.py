"""How are parameters updated so that the loss falls?

Reading order: `optimizer` (groups and state), with its `hooks`, `options` (which values are accepted) and `forms` (what
the forms of a step share); `sgd`, `adam`, `adamw`; then `adamax`, `nadam`, `radam`, `adagrad`, `adadelta`, `rmsprop`,
`rprop`, `asgd`, `_adafactor`, `_muon`, `sparse_adam`; `lbfgs` with its `line_search`; `_functional` (one step of each).
Then `lr_scheduler/`, `swa_utils`, and `_stateless` (a step on other parameters).

Mirrors: torch/optim
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.optim import lr_scheduler as lr_scheduler
from glasstorch.optim import swa_utils as swa_utils
from glasstorch.optim._adafactor import Adafactor
from glasstorch.optim._muon import Muon
from glasstorch.optim._stateless import swap_in_optimizer_params_and_state
from glasstorch.optim.adadelta import Adadelta
from glasstorch.optim.adagrad import Adagrad
from glasstorch.optim.adam import Adam
from glasstorch.optim.adamax import Adamax
from glasstorch.optim.adamw import AdamW
from glasstorch.optim.asgd import ASGD
from glasstorch.optim.lbfgs import LBFGS
from glasstorch.optim.nadam import NAdam
from glasstorch.optim.optimizer import Optimizer
from glasstorch.optim.radam import RAdam
from glasstorch.optim.rmsprop import RMSprop
from glasstorch.optim.rprop import Rprop
from glasstorch.optim.sgd import SGD
from glasstorch.optim.sparse_adam import SparseAdam

__all__ = [
    "Adafactor",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "AdamW",
    "ASGD",
    "LBFGS",
    "lr_scheduler",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "swap_in_optimizer_params_and_state",
    "swa_utils",
]

__getattr__ = _refuse_unknown_names(__name__)
