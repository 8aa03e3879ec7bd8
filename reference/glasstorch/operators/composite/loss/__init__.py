"""Which losses are composed of other operators?

Reading order: `pointwise` (a loss for each element), `classes` (targets that are numbers of classes), `pairs` (vectors
that should be near or far), `sequences`.

Mirrors: aten/src/ATen/native/Loss.cpp, LossNLL.cpp, LossNLL2d.cpp, LossMultiLabelMargin.cpp, LossCTC.cpp
"""
