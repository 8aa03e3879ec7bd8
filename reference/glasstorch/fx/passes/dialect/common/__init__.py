"""Which passes look only at how nodes are connected?

Reading order: `cse_pass`.

Mirrors: torch/fx/passes/dialect/common/__init__.py
"""
