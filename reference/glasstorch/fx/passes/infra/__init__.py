"""How are passes written, put in order, and told which nodes belong together?

Reading order: `pass_base` says what a pass is, `pass_manager` runs several; `partitioner` groups nodes that a backend
can compute.

Mirrors: torch/fx/passes/infra/__init__.py
"""
