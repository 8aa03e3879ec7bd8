"""Which functions take one step of each optimizer?

Mirrors: torch/optim/_functional.py
"""

from glasstorch.optim.adadelta import adadelta as adadelta
from glasstorch.optim.adagrad import adagrad as adagrad
from glasstorch.optim.adam import adam as adam
from glasstorch.optim.adamax import adamax as adamax
from glasstorch.optim.adamw import adamw as adamw
from glasstorch.optim.asgd import asgd as asgd
from glasstorch.optim.nadam import nadam as nadam
from glasstorch.optim.radam import radam as radam
from glasstorch.optim.rmsprop import rmsprop as rmsprop
from glasstorch.optim.rprop import rprop as rprop
from glasstorch.optim.sgd import sgd as sgd
from glasstorch.optim.sparse_adam import sparse_adam as sparse_adam
