"""Which operators of linear algebra are composed of others?

Reading order: `decompositions`, `factors`, `norms`, `vector_norms` (norm and dist), `products`, `einsum`.

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp, BatchLinearAlgebra.cpp, Linear.cpp
"""
