"""Under which older names are the functions of torch.hub found?

Mirrors: torch/utils/model_zoo.py
"""

from glasstorch.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
