"""Which helper functions do the formulas of derivatives.yaml call?

Reading order: `shared` (what several families call); then the families: `pointwise`, `special`, `reductions`, `scans`,
`indexing`, `views`, `joining`, `transformations`, `padding`, `copies`, `matmul`, `linalg/`, `distances`, `fft`,
`resampling`, `activation`, `dropout`, `embedding`, `normalization`, `pooling`, `softmax`, `recurrent`, `loss`,
`sparse`, `nested`.

Mirrors: torch/csrc/autograd/FunctionsManual.cpp
Differs: one file for each family.
"""
