"""How does a program log the values of a run?

Mirrors: torch/utils/tensorboard/writer.py (SummaryWriter)
Differs: `add_hparams` and `add_embedding` check what they are given before they write anything. `add_onnx_graph` is
    refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from google.protobuf import text_format
from tensorboard.compat import tf
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from glasstorch.nn.modules.module import Module
from glasstorch.utils.tensorboard import summary as summaries
from glasstorch.utils.tensorboard._convert_np import make_np
from glasstorch.utils.tensorboard._embedding import get_embedding_info, make_mat, make_sprite, make_tsv, write_pbtxt
from glasstorch.utils.tensorboard._file_writer import FileWriter, Seconds, Step
from glasstorch.utils.tensorboard._pictures import figure_to_image
from glasstorch.utils.tensorboard._pytorch_graph import graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FileWriter", "SummaryWriter"]

Layout = Mapping[str, Mapping[str, Sequence[Any]]]
ESCAPED = ("%", "/", "\\")  # in a tag that becomes the name of a folder


def default_bins() -> list[float]:
    """The ends of the bins of a histogram: 0, and on either side from 1e-12 to 1e20, each 1.1 times the one before."""
    right, end = [], 1e-12
    while end < 1e20:
        right.append(end)
        end *= 1.1
    return [-end for end in reversed(right)] + [0] + right


class SummaryWriter:
    """Logs the values of a run to a folder, for TensorBoard.

    A tag names one series of values, and `/` in it makes groups; `global_step` is a value's place in its series.
    `walltime` is the time in seconds since 1970, the present one by default.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        """Open a new file in `log_dir`, by default `runs/` with the date, the machine's name and `comment`.

        `purge_step` is the step at which a crashed run is resumed: TensorBoard hides what was logged in the same folder
        before, at this step and later ones.
        """
        if not log_dir:
            import socket

            log_dir = os.path.join("runs", time.strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.default_bins = default_bins()
        self.file_writer: FileWriter | None = None  # None while it is closed
        self.all_writers: dict[str, FileWriter] | None = None  # by folder: add_scalars opens further ones
        self._projector_config = ProjectorConfig()
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The writer of `log_dir`, opened again if it was closed."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._open(str(self.log_dir))
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                start = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=self.purge_step, session_log=start))
                self.purge_step = None
        return self.file_writer

    def _open(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, summary: Any, global_step: Step = None, walltime: Seconds = None) -> None:
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def get_logdir(self) -> str | os.PathLike[str]:
        """The folder, as it was given."""
        return self.log_dir

    # Numbers ------------------------------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Step = None,
        walltime: Seconds = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Log one number: a Python number, or a tensor or an array of one element.

        It is kept as float32. With `new_style` it is a tensor, as TensorFlow 2 writes it, and may be a float64.
        """
        number = summaries.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision)
        self._add(number, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: Step = None,
        walltime: Seconds = None,
    ) -> None:
        """Log numbers that share a chart, each as a run of its own: in the folder `main_tag` + `_` + its tag."""
        walltime = time.time() if walltime is None else walltime
        numbers = {tag: summaries.scalar(main_tag, value) for tag, value in tag_scalar_dict.items()}
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, number in numbers.items():
            name = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if name not in self.all_writers:
                self.all_writers[name] = self._open(name)
            self.all_writers[name].add_summary(number, global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Step = None, walltime: Seconds = None) -> None:
        """Log all elements of a tensor; TensorBoard does not show it, but its reader gives it back."""
        self._add(summaries.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Step = None,
        bins: Any = "tensorflow",
        walltime: Seconds = None,
        max_bins: int | None = None,
    ) -> None:
        """Log how the elements are distributed; `bins` as in `numpy.histogram`, or "tensorflow" for `default_bins`."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summaries.histogram(tag, values, bins, max_bins=max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Step = None,
        walltime: Seconds = None,
    ) -> None:
        """Log a histogram whose counts are known; a bucket's limit is its right end."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(
                f"len(bucket_limits) != len(bucket_counts), see the document: {len(bucket_limits)} and "
                f"{len(bucket_counts)}"
            )
        counted = summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(counted, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Step = None,
    ) -> None:
        """Log the settings of a run and what it reached, as a run of its own in the folder `run_name`.

        A setting is a number, a string, a bool or a tensor of one element. The default name is the time.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        records = [
            *summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete),
            *(summaries.scalar(name, value) for name, value in metric_dict.items()),
        ]
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as inner:
            for record in records:
                inner._add(record, global_step)

    # Pictures, sound, text ----------------------------------------------------------------------------------------

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Step = None, walltime: Seconds = None, dataformats: str = "CHW"
    ) -> None:
        """Log an image of floats from 0 to 1 or of uint8, with its dimensions in any order: "CHW", "HWC", "HW"."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Step = None, walltime: Seconds = None, dataformats: str = "NCHW"
    ) -> None:
        """Log a batch of images as one image, eight to a row."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Step = None,
        walltime: Seconds = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Log an image with red boxes on it: rows of left, top, right, bottom, in pixels.

        Labels are drawn if there is one for each box.
        """
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != box_tensor.shape[0]:
            labels = None
        drawn = summaries.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self._add(drawn, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Figure | list[Figure],
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Log a figure of matplotlib, or several as one image; they are closed unless `close` is False."""
        formats = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime, dataformats=formats)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Step = None, fps: float = 4, walltime: Seconds = None
    ) -> None:
        """Log videos (n, frames, channels, height, width) beside each other, with `fps` frames a second."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Step = None, sample_rate: int = 44100, walltime: Seconds = None
    ) -> None:
        """Log a sound of one channel: samples from -1 to 1, `sample_rate` a second."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate=sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Step = None, walltime: Seconds = None) -> None:
        """Log a text, which TensorBoard reads as Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    # Models and vectors -------------------------------------------------------------------------------------------

    def add_graph(
        self, model: Module, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Log the operators of a model, found by running it once on an input or a tuple of inputs."""
        self._get_file_writer().add_graph(graph(model, input_to_model, verbose, use_strict_trace))

    def add_onnx_graph(self, prototxt: object) -> NoReturn:
        """Refused: ONNX files are not read here."""
        raise NotImplementedError(
            f"add_onnx_graph: asked for the graph in {prototxt!r}, but glasstorch reads no ONNX files; `add_graph` "
            "draws a torch.nn.Module"
        )

    @staticmethod
    def _encode(rawstr: str) -> str:
        """The name of a folder for a tag, in which the characters of paths are written as `%2f`."""
        for character in ESCAPED:
            rawstr = rawstr.replace(character, f"%{ord(character):02x}")
        return rawstr

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: Step = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Log vectors (n, width) for the projector, which shows them as points.

        A point may have a label, or a row of labels if `metadata_header` names their columns, and a small picture from
        `label_img` (n, 1 or 3, height, width).
        """
        vectors = make_np(mat)
        if vectors.ndim != 2:
            raise AssertionError(
                f"mat should be 2D, where mat.size(0) is the number of data points; got shape {vectors.shape}"
            )
        if metadata is not None and len(vectors) != len(metadata):
            raise AssertionError(f"#labels should equal with #data points: {len(metadata)} and {len(vectors)}")
        if label_img is not None and len(vectors) != label_img.shape[0]:
            raise AssertionError(f"#images should equal with #data points: {label_img.shape[0]} and {len(vectors)}")
        global_step = 0 if global_step is None else global_step
        subdir = f"{str(global_step).zfill(5)}/{self._encode(tag)}"
        top = self._get_file_writer().get_logdir()
        folder = os.path.join(top, subdir)
        _make_folder(folder)
        if metadata is not None:
            make_tsv(metadata, folder, metadata_header=metadata_header)
        if label_img is not None:
            make_sprite(label_img, folder)
        make_mat(vectors, folder)
        # The file that names all embeddings is written anew: a store of files may be unable to append.
        self._projector_config.embeddings.append(get_embedding_info(metadata, label_img, subdir, global_step, tag))
        write_pbtxt(top, text_format.MessageToString(self._projector_config))

    # Curves, charts, meshes ---------------------------------------------------------------------------------------

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Step = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: Seconds = None,
    ) -> None:
        """Log precision and recall at thresholds from 0 to 1; labels are 0 or 1, predictions from 0 to 1."""
        curve = summaries.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights)
        self._add(curve, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Step = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: Seconds = None,
    ) -> None:
        """Log a curve of precision and recall that is computed already, one number for each threshold."""
        rows = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        curve = summaries.pr_curve_raw(tag, *rows, precision, recall, num_thresholds, weights)
        self._add(curve, global_step, walltime)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show these scalars in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show three scalars as a line in a band: value, lower end, upper end."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: Layout) -> None:
        """Say which scalars share a chart: category -> title -> ["Multiline", tags] or ["Margin", three tags].

        TensorBoard uses one such layout for each run.
        """
        self._add(summaries.custom_scalars(layout))

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: dict[str, Any] | None = None,
        global_step: Step = None,
        walltime: Seconds = None,
    ) -> None:
        """Log clouds of points (n, points, 3), or meshes if `faces` (n, faces, 3) has the corners of triangles.

        `colors` (n, points, 3) are from 0 to 255. `config_dict` has the classes of three.js and their settings.
        """
        self._add(summaries.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    # The files ----------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Wait until all that was logged is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Flush and close the files. What is logged later goes into new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()


def _make_folder(folder: str) -> None:
    gfile = tf.io.gfile
    if not gfile.exists(folder):
        gfile.makedirs(folder)
    elif gfile.isdir(folder):
        print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
    else:
        raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
