"""Are the files of a run those that PyTorch's writer writes for the same calls, and does TensorBoard read them?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch

pytest.importorskip("tensorboard")

from glasstorch.utils.tensorboard import FileWriter, SummaryWriter
from glasstorch.utils.tensorboard.summary import int_to_half
from tests.utils.tensorboard.logs import THEN, events, logged, read, runs

Use = Callable[[Any, Any], None]
DATA = np.random.default_rng(0)
VALUES = DATA.standard_normal(400).astype(np.float32)
PIXELS = DATA.random((7, 3, 6, 5)).astype(np.float32)


def tensor(library: Any, array: Any) -> Any:
    return library.from_numpy(np.array(array))


def scalars(t: Any, w: Any) -> None:
    for step, value in enumerate((1, 2.5, np.float64(0.1), np.int64(7), np.array([3.0]), float("nan"), float("inf"))):
        w.add_scalar("loss/train", value, step, THEN)
    w.add_scalar("tensor", t.tensor([[2.0]], requires_grad=True), t.tensor(5), THEN)
    w.add_scalar("bfloat16", t.tensor(1.5, dtype=t.bfloat16), np.int32(6), THEN)
    w.add_scalar("new", 0.1, 1, THEN, new_style=True)
    w.add_scalar("double", 0.1, 1, THEN, new_style=True, double_precision=True)
    w.add_scalar("no step", True)


def scalars_together(t: Any, w: Any) -> None:
    for step in range(3):
        w.add_scalars("loss/both", {"train": step, "test": t.tensor(2.0 * step)}, step, THEN)


def histograms(t: Any, w: Any) -> None:
    values = tensor(t, VALUES)
    w.add_histogram("all", values, 0, walltime=THEN)
    w.add_histogram("positive", values.abs().view(20, 20), 1, walltime=THEN)
    w.add_histogram("one", t.zeros(3), 1, walltime=THEN)
    w.add_histogram("integers", t.arange(5), 1, walltime=THEN)
    w.add_histogram("few", values, 2, bins=10, walltime=THEN)
    w.add_histogram("ends", values, 2, bins=[-1.0, 0.0, 0.5, 4.0], walltime=THEN)
    w.add_histogram("chosen", VALUES.astype(np.float64), 2, bins="auto", walltime=THEN)
    for most in (1, 7, 100, 773, 774):
        w.add_histogram(f"at most {most}", values, most, walltime=THEN, max_bins=most)
    w.add_histogram_raw("raw", 0.0, 2.0, 3, 3.0, 5.0, [1.0, 2.0, 3.0], [1, 1, 1], 4, THEN)


def images(t: Any, w: Any) -> None:
    batch = tensor(t, PIXELS)
    w.add_image("floats", batch[0], 1, THEN)
    w.add_image("bytes", (batch[0] * 255).to(t.uint8), 1, THEN)
    w.add_image("beyond", batch[0] * 3 - 1, 1, THEN)
    w.add_image("gray", batch[0, :1], 1, THEN)
    w.add_image("HW", batch[0, 0], 1, THEN, dataformats="HW")
    w.add_image("WH", PIXELS[0, 0], 1, THEN, dataformats="wh")
    w.add_image("HWC", batch[0].permute(1, 2, 0), 1, THEN, dataformats="HWC")
    w.add_images("grid", batch, 2, THEN)
    w.add_images("nine", np.concatenate([PIXELS, PIXELS[:2]]), 2, THEN)
    w.add_images("gray grid", batch[:, :1], 2, THEN)
    w.add_images("NHWC", batch.permute(0, 2, 3, 1), 2, THEN, dataformats="NHWC")


def boxes(t: Any, w: Any) -> None:
    picture = tensor(t, DATA.random((3, 60, 80)))
    corners = t.tensor([[5, 10, 30, 40], [20, 15, 70, 55]])
    w.add_image_with_boxes("plain", picture, corners, 0, THEN)
    w.add_image_with_boxes("labels", picture, corners, 1, THEN, labels=["cat", "dog"])
    w.add_image_with_boxes("half", picture, corners.float(), 2, THEN, rescale=0.5, labels=["cat", ""])
    w.add_image_with_boxes("too few labels", picture, corners, 3, THEN, labels="cat")


def figures(t: Any, w: Any) -> None:
    import matplotlib.pyplot as plt

    def figure(height: int) -> Any:
        drawn = plt.figure(figsize=(2, 1), dpi=50)
        drawn.add_subplot().plot([0, height, 1])
        return drawn

    w.add_figure("one", figure(1), 0, walltime=THEN)
    w.add_figure("two", [figure(1), figure(2)], 1, walltime=THEN)
    assert plt.get_fignums() == []
    kept = figure(3)
    w.add_figure("kept", kept, 1, close=False, walltime=THEN)
    assert plt.get_fignums() == [kept.number]
    plt.close(kept)


def sounds_and_texts(t: Any, w: Any) -> None:
    samples = tensor(t, np.sin(np.arange(200) / 7))
    w.add_audio("wave", samples.unsqueeze(0), 0, 8000, THEN)
    w.add_audio("loud", samples * 2, 1, walltime=THEN)
    w.add_text("notes", "**bold** and ü", 1, THEN)
    w.add_text("a/b", "", 2)


def curves(t: Any, w: Any) -> None:
    labels, predictions = DATA.integers(0, 2, 100), DATA.random(100)
    w.add_pr_curve("default", tensor(t, labels), tensor(t, predictions), 0, walltime=THEN)
    w.add_pr_curve("few", labels.astype(bool), predictions, 1, num_thresholds=5, walltime=THEN)
    w.add_pr_curve("weights", labels, predictions, 1, 300, np.arange(100.0), THEN)
    rows = [DATA.random(4) for _ in range(6)]
    w.add_pr_curve_raw("raw", *rows, 2, num_thresholds=4, walltime=THEN)


def charts(t: Any, w: Any) -> None:
    w.add_custom_scalars({"A": {"a": ["Multiline", ["x", "y"]]}, "B": {"b": ["Margin", ["x", "y", "z"]]}})
    w.add_custom_scalars_multilinechart(["x", "y"], "C", "c")
    w.add_custom_scalars_marginchart(["x", "y", "z"])


def meshes(t: Any, w: Any) -> None:
    corners = t.tensor([[[1.0, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]]])
    colors = t.tensor([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 0, 255]]])
    faces = t.tensor([[[0, 2, 3], [0, 3, 1], [0, 1, 2], [1, 3, 2]]])
    w.add_mesh("cloud", corners, global_step=1, walltime=THEN)
    config = {"material": {"cls": "PointsMaterial", "size": 2}, "camera": {"cls": "PerspectiveCamera"}}
    w.add_mesh("mesh", corners, colors, faces, config, 2, THEN)


def tensors(t: Any, w: Any) -> None:
    kinds = ["float16", "bfloat16", "float32", "float64", "uint8", "int64", "bool", "complex64", "complex128"]
    for step, kind in enumerate(kinds):
        w.add_tensor(kind, t.tensor([[0.0, 1.0, 3.5], [2.0, 1.0, 1.0]]).to(getattr(t, kind)), step, THEN)
    w.add_tensor("empty", t.ones(0, 3), 0, THEN)
    for kind in ("int8", "int16", "int32"):
        w.add_tensor(kind, t.tensor([1, -2]).to(getattr(t, kind)), 0, THEN)


def settings(t: Any, w: Any) -> None:
    given = {"lr": 0.1, "layers": 3, "name": "adam", "on": True, "left out": None, "scale": t.tensor([2.0])}
    w.add_hparams(given, {"hparam/loss": 1.5, "hparam/accuracy": t.tensor(0.5)}, run_name="first", global_step=3)
    domains = {"lr": [0.1, 0.2], "name": ["adam", "sgd"], "on": [True, False]}
    w.add_hparams(given, {"m": 0}, domains, "second")


def purged(t: Any, w: Any) -> None:
    again = type(w)(w.log_dir, purge_step=7, filename_suffix=".later")
    again.add_scalar("x", 1.0, 7, THEN)
    again.close()
    again.close()
    again.add_scalar("x", 2.0, 8, THEN)
    again.close()


USES = [
    scalars,
    scalars_together,
    histograms,
    images,
    boxes,
    figures,
    sounds_and_texts,
    curves,
    charts,
    meshes,
    tensors,
    settings,
    purged,
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_the_records_are_those_of_torch(use: Use, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    global DATA
    oracle = pytest.importorskip("torch")
    written, printed = [], []
    for library in (glasstorch, oracle):
        DATA = np.random.default_rng(1)
        written.append(runs(logged(library, tmp_path, use)))
        printed.append(capsys.readouterr().out)
    ours, theirs = written
    assert sum(map(len, ours.values())) > 1
    assert list(ours) == list(theirs)
    for run, records in theirs.items():
        assert ours[run] == records, run
    assert printed[0] == printed[1]


@pytest.mark.parametrize("step", [None, 12])
def test_the_files_of_the_projector_are_those_of_torch(
    step: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle = pytest.importorskip("torch")

    def use(t: Any, w: Any) -> None:
        vectors = tensor(t, VALUES[:30].reshape(6, 5))
        pictures = tensor(t, PIXELS[:6])
        w.add_embedding(vectors, list("abcdeü"), pictures, step)
        w.add_embedding(vectors.double().numpy(), [[n, n * n] for n in range(6)], None, step, "a/b%\\", ["n", "square"])
        w.add_embedding(vectors[:, :2], label_img=pictures[:, :1], global_step=step, tag="last")
        w.add_embedding(vectors, global_step=step)
        print("done")

    found = []
    for library in (glasstorch, oracle):
        top = logged(library, tmp_path, use)
        files = [file for file in sorted(top.rglob("*")) if file.is_file() and not file.name.startswith("events")]
        found.append({file.relative_to(top).as_posix(): file.read_bytes() for file in files})
    ours, theirs = found
    assert f"{step or 0:05}/a%2fb%25%5c/metadata.tsv" in ours
    assert len(ours) == 8
    assert ours == theirs
    out = capsys.readouterr().out.splitlines()
    assert out[: len(out) // 2] == out[len(out) // 2 :]
    assert out[0] == "warning: Embedding dir exists, did you set global_step for add_embedding()?"


def test_tensorboard_reads_what_was_logged(tmp_path: Path) -> None:
    def use(t: Any, w: Any) -> None:
        scalars(t, w)
        histograms(t, w)
        w.add_image("picture", PIXELS[0], 4, THEN)

    shown = read(logged(glasstorch, tmp_path, use))
    losses = shown.Scalars("loss/train")
    assert [(event.wall_time, event.step) for event in losses] == [(THEN, step) for step in range(7)]
    assert [event.value for event in losses[:2]] == [1.0, 2.5]
    assert shown.Scalars("tensor")[0].step == 5
    counted = shown.Histograms("all")[0].histogram_value
    assert (counted.num, sum(counted.bucket)) == (400, 400)
    assert counted.sum == pytest.approx(VALUES.sum(dtype=np.float64))
    assert (shown.Images("picture")[0].width, shown.Images("picture")[0].height) == (5, 6)


def test_an_event_has_the_time_at_which_it_was_logged(tmp_path: Path) -> None:
    import time

    before = time.time()
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("x", 1.0)
        writer.add_text("y", "z", walltime=THEN)
    after = time.time()
    *_, now, then = events(tmp_path)
    assert before <= now.wall_time <= after
    assert then.wall_time == THEN


def test_a_bfloat16_value_that_float16_cannot_hold_is_kept(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("large", glasstorch.tensor(2.0**20, dtype=glasstorch.bfloat16))
    assert read(tmp_path).Scalars("large")[0].value == 2.0**20


def test_a_float16_is_kept_by_its_bits(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_tensor("half", glasstorch.tensor([1.5, -2.0], dtype=glasstorch.float16))
    kept = events(tmp_path)[-1].summary.value[0].tensor.half_val
    assert list(map(int_to_half, kept)) == [1.5, -2.0]


def test_a_video_is_a_gif_that_shows_all_frames_at_its_pace(tmp_path: Path) -> None:
    import io

    from PIL import Image

    videos = np.zeros((3, 4, 3, 8, 6), np.uint8)  # three videos of four frames: red, green, blue, each for one of them
    for number in range(3):
        videos[number, :, number] = 255
        videos[number, number] = 0
    with SummaryWriter(tmp_path) as writer:
        writer.add_video("colors", glasstorch.from_numpy(videos), 1, fps=5)
    shown = events(tmp_path)[-1].summary.value[0].image
    assert (shown.height, shown.width, shown.colorspace) == (8, 24, 3)
    film = Image.open(io.BytesIO(shown.encoded_image_string))
    assert (film.n_frames, film.size, film.info["duration"]) == (4, (24, 8), 200)
    places = [(1, 1), (7, 1), (13, 1), (19, 1)]  # x, y in each of the four cells
    for frame in range(4):
        film.seek(frame)
        colors = [film.convert("RGB").getpixel(place) for place in places]
        wanted = [tuple(255 * (n == c != frame) for c in range(3)) for n in range(3)]
        assert colors == [*wanted, (0, 0, 0)]


def test_the_grid_of_a_video_is_that_of_torch() -> None:
    pytest.importorskip("torch")
    from torch.utils.tensorboard._utils import _prepare_video

    from glasstorch.utils.tensorboard._pictures import prepare_video

    for count in range(1, 10):
        videos = np.random.default_rng(count).random((count, 2, 3, 4, 5))
        np.testing.assert_array_equal(prepare_video(videos), _prepare_video(videos))


def test_logging_begins_where_the_default_name_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="LR_0.1") as writer:
        assert writer.get_logdir() == writer.log_dir
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("LR_0.1")
    assert len(events(folder)) == 1


def test_a_file_writer_goes_on_in_a_new_file(tmp_path: Path) -> None:
    from tensorboard.compat.proto.summary_pb2 import Summary

    writer = FileWriter(tmp_path, filename_suffix=".a")
    writer.close()
    (tmp_path / next(tmp_path.iterdir()).name).rename(tmp_path / "events.0")
    writer.reopen()
    writer.reopen()
    writer.add_summary(Summary(value=[Summary.Value(tag="x", simple_value=1.0)]), 3, THEN)
    writer.flush()
    assert [file.name.endswith(".a") for file in tmp_path.glob("events.out*")] == [True]
    assert [event.step for event in events(tmp_path)] == [0, 0, 3]
    writer.close()


# Refusals ---------------------------------------------------------------------------------------------------------

ZERO = glasstorch.zeros


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: w.add_scalar("x", ZERO(2)), AssertionError, "should contain one element"),
        (lambda w: w.add_scalar("x", [1.0]), NotImplementedError, "Got <class 'list'>"),
        (lambda w: w.add_scalar("x", ZERO(1, device="meta")), NotImplementedError, "Got a meta tensor of shape"),
        (lambda w: w.add_scalars("x", {"a": 1.0, "b": ZERO(2)}), AssertionError, "one element"),
        (lambda w: w.add_histogram("x", ZERO(0)), ValueError, "The input has no element."),
        (lambda w: w.add_histogram("x", ZERO(3), bins=[1.0, 2.0]), ValueError, "no value lies between 1.0 and 2.0"),
        (lambda w: w.add_histogram_raw("x", 0, 1, 1, 1, 1, [1.0], []), ValueError, r"len\(bucket_limits\) != len"),
        (lambda w: w.add_image("x", ZERO(3, 4)), AssertionError, "input tensor and input format are different"),
        (lambda w: w.add_image("x", ZERO(3, 4, 5), dataformats="CHH"), AssertionError, "shorthand twice"),
        (lambda w: w.add_image("x", ZERO(3, 4, 5), dataformats="CHX"), AssertionError, "got CHX"),
        (lambda w: w.add_images("x", ZERO(2, 5, 4, 4)), AssertionError, "expected a batch of images"),
        (lambda w: w.add_video("x", ZERO(2, 3, 4, 4)), AssertionError, "expected videos"),
        (lambda w: w.add_audio("x", ZERO(2, 3)), AssertionError, "should be 1 dimensional"),
        (lambda w: w.add_custom_scalars({"a": {"b": ["Margin", ["x"]]}}), AssertionError, "3 tags"),
        (lambda w: w.add_custom_scalars_marginchart(["x"]), AssertionError, "Expected 3 tags, got 1."),
        (lambda w: w.add_mesh("x", ZERO(4, 3)), ValueError, r"expected a tensor \(batch, number, 3\)"),
        (lambda w: w.add_tensor("x", ZERO(2).to(glasstorch.uint16)), ValueError, "unsupported tensor dtype"),
        (lambda w: w.add_hparams([], {}), TypeError, "should be dictionary"),
        (lambda w: w.add_hparams({"a": [1]}, {}), ValueError, "value should be one of .* got \\[1\\]"),
        (lambda w: w.add_hparams({"a": 1}, {}, {"a": 1}), TypeError, "list of same type as hparam_dict"),
        (lambda w: w.add_hparams({"a": 1}, {}, {"b": [1]}), TypeError, "list of same type as hparam_dict"),
        (lambda w: w.add_hparams({"a": 1}, {}, [1]), TypeError, "hparam_domain_discrete should be a dictionary"),
        (lambda w: w.add_hparams({"a": 1}, {"m": ZERO(2)}), AssertionError, "one element"),
        (lambda w: w.add_embedding(ZERO(3)), AssertionError, "mat should be 2D"),
        (lambda w: w.add_embedding(ZERO(3, 2), ["a"]), AssertionError, "#labels should equal"),
        (lambda w: w.add_embedding(ZERO(3, 2), label_img=ZERO(2, 3, 4, 4)), AssertionError, "#images should equal"),
        (lambda w: w.add_graph(lambda x: x, ZERO(1)), TypeError, r"expected a torch.nn.Module, got function"),
        (lambda w: w.add_onnx_graph("model.onnx"), NotImplementedError, "reads no ONNX files"),
    ],
)
def test_what_is_refused_leaves_nothing_in_the_logs(
    call: Callable[[Any], None], error: type[Exception], message: str, tmp_path: Path
) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(error, match=message):
            call(writer)
    assert [event.WhichOneof("what") for event in events(tmp_path)] == ["file_version"]
    assert len(list(tmp_path.rglob("*"))) == 1


def test_an_embedding_is_not_written_over_a_file(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        (tmp_path / "00000").mkdir()
        (tmp_path / "00000" / "default").touch()
        with pytest.raises(NotADirectoryError, match="exists, but is a file"):
            writer.add_embedding(ZERO(3, 2))


def test_without_the_package_the_error_says_how_to_install_it() -> None:
    program = (
        "import sys\nsys.modules['tensorboard'] = None\nimport glasstorch\n"
        "try:\n    import glasstorch.utils.tensorboard\n"
        "except ModuleNotFoundError as error:\n    import json; print(json.dumps([error.name, str(error)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    name, message = json.loads(done.stdout)
    assert name == "tensorboard"
    assert 'pip install "glasstorch[tensorboard]"' in message


def test_a_program_that_does_not_log_does_not_import_the_package() -> None:
    program = "import sys, glasstorch\nprint('tensorboard' in sys.modules, hasattr(glasstorch.utils, 'tensorboard'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
