"""Which record holds one logged value?

Mirrors: torch/utils/tensorboard/summary.py
Differs: pictures and settings have files of their own.

Every function returns a `Summary` of tensorboard's protocol buffers, in which one or more values have a tag; the
metadata of a value name the plugin that shows it.
"""

from __future__ import annotations

import io
import json
import struct
import wave
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from glasstorch._tensor import Tensor
from glasstorch.core import dtype as dtypes
from glasstorch.operators.generated.functions import view_as_real
from glasstorch.outside_data.creation import as_tensor
from glasstorch.utils.tensorboard._convert_np import make_np
from glasstorch.utils.tensorboard._hparams import hparams as hparams
from glasstorch.utils.tensorboard._pictures import draw_boxes as draw_boxes
from glasstorch.utils.tensorboard._pictures import image as image
from glasstorch.utils.tensorboard._pictures import image_boxes as image_boxes
from glasstorch.utils.tensorboard._pictures import make_image as make_image
from glasstorch.utils.tensorboard._pictures import make_video as make_video
from glasstorch.utils.tensorboard._pictures import video as video

__all__ = [
    "half_to_int",
    "int_to_half",
    "hparams",
    "scalar",
    "histogram_raw",
    "histogram",
    "make_histogram",
    "image",
    "image_boxes",
    "draw_boxes",
    "make_image",
    "video",
    "make_video",
    "audio",
    "custom_scalars",
    "text",
    "tensor_proto",
    "pr_curve_raw",
    "pr_curve",
    "compute_curve",
    "mesh",
]

Array = np.ndarray[Any, Any]
MAX_BYTES = 1 << 31  # of one protocol buffer
MAX_THRESHOLDS = 127  # of a curve of precision and recall
NO_ROUNDING_TO_ZERO = 1e-7  # the least divisor where a precision or a recall is 0/0


def _one(tag: str, plugin: str = "", content: bytes = b"", **value: Any) -> Any:
    """The summary of one value; with a plugin's name, the metadata say so."""
    if plugin:
        data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
        value["metadata"] = SummaryMetadata(plugin_data=data)
    return Summary(value=[Summary.Value(tag=tag, **value)])


def _shape(sizes: Sequence[int]) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


# Numbers ----------------------------------------------------------------------------------------------------------


def scalar(
    name: str, tensor: Any, collections: None = None, new_style: bool = False, double_precision: bool = False
) -> Any:
    """One number. The new style is that of TensorFlow 2, a tensor for the plugin `scalars`; `collections` is unused."""
    array = make_np(tensor).squeeze()
    if array.ndim != 0:
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {array.size} and "
            f"{array.ndim} dimensions."
        )
    number = float(array)
    if not new_style:
        return _one(name, simple_value=number)
    if double_precision:
        return _one(name, "scalars", tensor=TensorProto(double_val=[number], dtype="DT_DOUBLE"))
    return _one(name, "scalars", tensor=TensorProto(float_val=[number], dtype="DT_FLOAT"))


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Any:
    """Which scalars share a chart: category -> title -> ["Multiline", tags] or ["Margin", [value, lower, upper]]."""
    categories = [
        layout_pb2.Category(title=category, chart=[_chart(title, *chart) for title, chart in charts.items()])
        for category, charts in layout.items()
    ]
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _one("custom_scalars__config__", "custom_scalars", tensor=proto)


def _chart(title: str, kind: str, tags: Sequence[str]) -> Any:
    if kind != "Margin":
        return layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags))
    if len(tags) != 3:
        raise AssertionError(f"a Margin chart has 3 tags (value, lower, upper), got {len(tags)}: {tags}")
    series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
    return layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series]))


# Many numbers -----------------------------------------------------------------------------------------------------


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: float,
    sum: float,
    sum_squares: float,
    bucket_limits: Sequence[float],
    bucket_counts: Sequence[float],
) -> Any:
    """A histogram whose counts are known; a bucket's limit is its right end."""
    proto = HistogramProto(
        min=min,
        max=max,
        num=num,
        sum=sum,
        sum_squares=sum_squares,
        bucket_limit=bucket_limits,
        bucket=bucket_counts,
    )
    return _one(name, histo=proto)


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """The histogram of all elements; `bins` as in `numpy.histogram`."""
    return _one(name, histo=make_histogram(make_np(values).astype(float), bins, max_bins))


def make_histogram(values: Array, bins: Any, max_bins: int | None = None) -> Any:
    """Count the values in bins, of which neighbours are joined where there are more than `max_bins`.

    Empty bins at both ends are left out, save one on the left: a bin is recorded by its right end alone, so that the
    left end of the first one that counts is that of an empty one.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _joined(counts, limits, len(counts) // max_bins)
    filled = np.flatnonzero(counts)
    if not filled.size:
        raise ValueError(f"The histogram is empty: no value lies between {limits[0]} and {limits[-1]}")
    first, last = int(filled[0]), int(filled[-1])
    left = counts[first - 1 : first] if first > 0 else np.zeros(1, counts.dtype)
    return HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=limits[first : last + 2].tolist(),
        bucket=np.concatenate([left, counts[first : last + 1]]).tolist(),
    )


def _joined(counts: Array, limits: Array, group: int) -> tuple[Array, Array]:
    """Every `group` neighbouring bins as one; the last one may consist of fewer."""
    rest = -len(counts) % group
    sums = np.pad(counts, (0, rest)).reshape(-1, group).sum(axis=-1)
    return sums, np.append(limits[:-1:group], limits[-1])


def half_to_int(f: float) -> int:
    """The bits of a float32, as the signed integer by which a `TensorProto` keeps a float16 or bfloat16."""
    return int(struct.unpack("i", struct.pack("f", f))[0])


def int_to_half(i: int) -> float:
    """The number that `half_to_int` turned into an integer."""
    return float(struct.unpack("f", struct.pack("i", i))[0])


def _elements(tensor: Tensor) -> list[Any]:
    return list(tensor.flatten().tolist())


def _bits(tensor: Tensor) -> list[Any]:
    return [half_to_int(element) for element in _elements(tensor)]


def _parts(tensor: Tensor) -> list[Any]:
    return _elements(view_as_real(tensor))


# dtype -> its name in TensorFlow, the field that holds the elements, and how they are written there
TENSOR_TYPES: dict[dtypes.dtype, tuple[str, str, Callable[[Tensor], list[Any]]]] = {
    dtypes.float16: ("DT_HALF", "half_val", _bits),
    dtypes.bfloat16: ("DT_BFLOAT16", "half_val", _bits),
    dtypes.float32: ("DT_FLOAT", "float_val", _elements),
    dtypes.float64: ("DT_DOUBLE", "double_val", _elements),
    dtypes.uint8: ("DT_UINT8", "uint32_val", _elements),
    dtypes.int8: ("DT_INT8", "int_val", _elements),
    dtypes.int16: ("DT_INT16", "int_val", _elements),
    dtypes.int32: ("DT_INT32", "int_val", _elements),
    dtypes.int64: ("DT_INT64", "int64_val", _elements),
    dtypes.bool_: ("DT_BOOL", "bool_val", _elements),
    dtypes.complex64: ("DT_COMPLEX64", "scomplex_val", _parts),
    dtypes.complex128: ("DT_COMPLEX128", "dcomplex_val", _parts),
}


def tensor_proto(tag: str, tensor: Tensor) -> Any:
    """The whole tensor, of less than 2 GB."""
    if tensor.numel() * tensor.itemsize >= MAX_BYTES:
        raise ValueError("tensor is bigger than protocol buffer's hard limit of 2GB in size")
    if tensor.dtype not in TENSOR_TYPES:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    name, field, written = TENSOR_TYPES[tensor.dtype]
    proto = TensorProto(dtype=name, tensor_shape=_shape(tensor.shape), **{field: written(tensor)})
    return _one(tag, "tensor", tensor=proto)


# Text, sound, curves, meshes --------------------------------------------------------------------------------------


def text(tag: str, text: str) -> Any:
    """A text in Markdown; its tag gets the suffix `/text_summary`."""
    proto = TensorProto(dtype="DT_STRING", string_val=[text.encode("utf-8")], tensor_shape=_shape([1]))
    content = TextPluginData(version=0).SerializeToString()
    return _one(f"{tag}/text_summary", "text", content, tensor=proto)


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """A WAV file with one channel of 16 bits, of samples from -1 to 1; others are clipped, and a line is printed."""
    samples = make_np(tensor).squeeze()
    if samples.ndim != 1:
        raise AssertionError(f"input tensor should be 1 dimensional, got shape {samples.shape}")
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    samples = (samples * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(sample_rate)
        written.writeframes(samples.tobytes())
    sound = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return _one(tag, audio=sound)


def pr_curve(tag: str, labels: Array, predictions: Array, num_thresholds: int = 127, weights: Any = None) -> Any:
    """Precision and recall at thresholds from 0 to 1; labels are 0 or 1, predictions from 0 to 1."""
    count = min(num_thresholds, MAX_THRESHOLDS)
    return _curve(tag, compute_curve(labels, predictions, num_thresholds=count, weights=weights), count)


def pr_curve_raw(
    tag: str,
    tp: Array,
    fp: Array,
    tn: Array,
    fn: Array,
    precision: Array,
    recall: Array,
    num_thresholds: int = 127,
    weights: Any = None,
) -> Any:
    """The same from counts: of true and false positives, of true and false negatives. `weights` is unused."""
    data = np.stack([make_np(row) for row in (tp, fp, tn, fn, precision, recall)])
    return _curve(tag, data, min(num_thresholds, MAX_THRESHOLDS))


def _curve(tag: str, data: Array, num_thresholds: int) -> Any:
    content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    proto = TensorProto(dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=_shape(data.shape))
    return _one(tag, "pr_curves", content, tensor=proto)


def compute_curve(labels: Array, predictions: Array, num_thresholds: int, weights: Any = None) -> Array:
    """Six rows, one column for each threshold: true and false positives, true and false negatives, precision, recall.

    A prediction counts as positive at all thresholds up to its own, hence the sums from the right.
    """
    weights = 1.0 if weights is None else weights
    buckets = np.floor(predictions * (num_thresholds - 1)).astype(np.int32)
    positive = labels.astype(np.float64)

    def at_least(weight: Any) -> Array:
        counts, _ = np.histogram(buckets, bins=num_thresholds, range=(0, num_thresholds - 1), weights=weight)
        return np.cumsum(counts[::-1])[::-1]

    tp, fp = at_least(positive * weights), at_least((1.0 - positive) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    precision = tp / np.maximum(NO_ROUNDING_TO_ZERO, tp + fp)
    recall = tp / np.maximum(NO_ROUNDING_TO_ZERO, tp + fn)
    return np.stack((tp, fp, tn, fn, precision, recall))


def mesh(
    tag: str,
    vertices: Any,
    colors: Any,
    faces: Any,
    config_dict: dict[str, Any] | None,
    display_name: str | None = None,
    description: str | None = None,
) -> Any:
    """Meshes or clouds of points (batch, number, 3): corners, and if given the triangles between them and colors.

    `config_dict` has the classes of three.js and their settings.
    """
    given = [
        (data, kind)
        for data, kind in (
            (vertices, MeshPluginData.VERTEX),
            (faces, MeshPluginData.FACE),
            (colors, MeshPluginData.COLOR),
        )
        if data is not None
    ]
    components = mesh_metadata.get_components_bitmask([kind for _, kind in given])
    config = "{}" if config_dict is None else json.dumps(config_dict, sort_keys=True)
    values = []
    for data, kind in given:
        tensor = as_tensor(data)
        if tensor.dim() != 3:
            raise ValueError(f"mesh: expected a tensor (batch, number, 3), got shape {tuple(tensor.shape)}")
        values.append(
            Summary.Value(
                tag=mesh_metadata.get_instance_name(tag, kind),
                tensor=TensorProto(dtype="DT_FLOAT", float_val=_elements(tensor), tensor_shape=_shape(tensor.shape)),
                metadata=mesh_metadata.create_summary_metadata(
                    tag, display_name, kind, components, tensor.shape, description, json_config=config
                ),
            )
        )
    return Summary(value=values)
