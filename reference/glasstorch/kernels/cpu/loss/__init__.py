"""How are losses and their gradients computed on the CPU?

Reading order: `pointwise` (a loss for each element), `classes` (targets that are numbers of classes), `sequences`.

Mirrors: aten/src/ATen/native/Loss.cpp, LossNLL.cpp, LossNLL2d.cpp, LossMultiMargin.cpp, LossMultiLabelMargin.cpp,
    LossCTC.cpp
"""
