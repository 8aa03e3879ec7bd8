"""What is compiled ahead of time, at PyTorch's own paths?

Reading order: `aot_autograd`, `partitioners`.

Mirrors: torch/_functorch/__init__.py
Differs: the code is in compiler/.
"""
