"""torchmetrics: metrics as modules, which add up over batches, and as functions."""

import torch
import torchmetrics.functional
from torchmetrics import (
    AUROC,
    Accuracy,
    AveragePrecision,
    CohenKappa,
    ConfusionMatrix,
    CosineSimilarity,
    F1Score,
    MatthewsCorrCoef,
    MaxMetric,
    MeanAbsoluteError,
    MeanMetric,
    MeanSquaredError,
    MetricCollection,
    MetricTracker,
    PearsonCorrCoef,
    Precision,
    R2Score,
    Recall,
    SpearmanCorrCoef,
    Specificity,
)

random = torch.Generator().manual_seed(0)
scores = torch.randn(40, 4, generator=random).softmax(-1)
classes = torch.randint(0, 4, (40,), generator=random)
four = {"task": "multiclass", "num_classes": 4}
for metric in (
    Accuracy(**four),
    Accuracy(**four, top_k=2),
    AUROC(**four),
    AveragePrecision(**four),
    CohenKappa(**four),
    ConfusionMatrix(**four, normalize="true"),
    F1Score(**four, average="macro"),
    MatthewsCorrCoef(**four),
    Precision(**four, average=None),
    Recall(**four, average="weighted"),
    Specificity(**four),
):
    for start in range(0, 40, 10):
        metric.update(scores[start : start + 10], classes[start : start + 10])
    print(type(metric).__name__, metric.compute())
    metric.reset()

x, y = torch.randn(30, generator=random), torch.randn(30, generator=random)
for metric in (MeanSquaredError(), MeanAbsoluteError(), R2Score(), PearsonCorrCoef(), SpearmanCorrCoef()):
    print(metric, metric(x, y), metric(y, x), metric.compute())
print(CosineSimilarity(reduction="none")(x.view(6, 5), y.view(6, 5)))
mean, largest = MeanMetric(), MaxMetric()
for value in (1.0, 4.0, torch.tensor(2.5)):
    mean.update(value)
    largest.update(value)
print(mean.compute(), largest.compute())

both = MetricCollection({"mse": MeanSquaredError(), "mae": MeanAbsoluteError()}, prefix="test/")
both.update(x, y)
print(both, both.compute())
tracker = MetricTracker(MeanSquaredError(), maximize=False)
for scale in (1.0, 0.5, 2.0):
    tracker.increment()
    tracker.update(x, x * scale)
print(tracker.best_metric(return_step=True), tracker.compute_all())
compute = torchmetrics.functional.pairwise_cosine_similarity
print(compute(scores[:3]), torchmetrics.functional.accuracy(scores, classes, **four))
learned = torch.zeros(30, requires_grad=True)
torchmetrics.functional.mean_squared_error(learned, y).backward()
print(learned.grad)
try:
    Accuracy(**four)(scores, classes + 4)
except RuntimeError as error:
    print(str(error)[:60])
