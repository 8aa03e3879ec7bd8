"""How are special functions of large tensors made fast on the CPU?

Reading order: `functions` (lines between samples, fits and series), `polynomials`.
"""
