"""How does a training run write logs that TensorBoard shows?

Reading order: `_convert_np`, `_pictures`, `_hparams`, `summary` (which record holds a value), `_embedding`,
`_pytorch_graph`, `_file_writer`, `writer` (what users call).

Mirrors: torch/utils/tensorboard
Differs: needs the package tensorboard, which the extra `tensorboard` installs, and no more: a video is encoded by
    Pillow, where PyTorch asks for moviepy. ONNX files are not read.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

try:
    import tensorboard as _tensorboard  # noqa: F401
except ModuleNotFoundError as _missing:
    if _missing.name != "tensorboard":
        raise
    raise ModuleNotFoundError(
        "torch.utils.tensorboard writes its logs with the package tensorboard, which is not installed; "
        'install it with `pip install "glasstorch[tensorboard]"`, or by its own name',
        name="tensorboard",
    ) from None

from tensorboard.summary.writer.record_writer import RecordWriter as RecordWriter

from glasstorch.utils.tensorboard.writer import FileWriter as FileWriter
from glasstorch.utils.tensorboard.writer import SummaryWriter as SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]

__getattr__ = _refuse_unknown_names("glasstorch.utils.tensorboard")
