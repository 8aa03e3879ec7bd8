"""How are parameters updated so that the loss falls?

Reading order: `optimizer`, `sgd`, `adam`.

Mirrors: torch/optim
Differs: only SGD, Adam and AdamW; no learning rate schedulers.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.optim.adam import Adam, AdamW
from glasstorch.optim.optimizer import Optimizer
from glasstorch.optim.sgd import SGD

__all__ = ["Optimizer", "SGD", "Adam", "AdamW"]

__getattr__ = _refuse_unknown_names(__name__)
