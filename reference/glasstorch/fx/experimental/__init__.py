"""How else can a program be captured?

Reading order: `_tracked` (which node stands for a tensor), `proxy_tensor` (operators become nodes as they run).

Mirrors: torch/fx/experimental/__init__.py
"""
