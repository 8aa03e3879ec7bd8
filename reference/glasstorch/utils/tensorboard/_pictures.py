"""How do arrays become pictures: grids of images, boxes, figures, videos?

Mirrors: torch/utils/tensorboard/_utils.py, and in summary.py: image, image_boxes, draw_boxes, make_image, video,
    make_video
Differs: `make_video` writes its GIF with Pillow instead of moviepy.

An image is an array of shape (height, width, 3), here and in the files; the letters of a format such as "NCHW" say in
which order the caller has its dimensions.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from glasstorch.utils.tensorboard._convert_np import make_np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

Array = np.ndarray[Any, Any]
BOX_COLOR, LABEL_COLOR, BOX_WIDTH = "Red", "black", 2

# Arrays in any format -> (height, width, channels) ----------------------------------------------------------------


def make_grid(images: Array, ncols: int = 8) -> Array:
    """One image (3, height, width) that shows a batch (n, 1 or 3, height, width) row by row, on black."""
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise AssertionError(f"expected a batch of images (n, 1 or 3, height, width), got shape {images.shape}")
    if images.shape[1] == 1:
        images = np.repeat(images, 3, axis=1)
    count, channels, height, width = images.shape
    ncols = min(count, ncols)
    nrows = -(-count // ncols)
    cells = np.zeros((nrows * ncols, channels, height, width), images.dtype)
    cells[:count] = images
    grid = cells.reshape(nrows, ncols, channels, height, width).transpose(2, 0, 3, 1, 4)  # (3, rows, h, columns, w)
    return grid.reshape(channels, nrows * height, ncols * width)


def convert_to_HWC(tensor: Array, input_format: str) -> Array:
    """The array with its dimensions in the order height, width, channels; a batch becomes a grid, gray becomes RGB."""
    letters = input_format.upper()
    if len(set(letters)) != len(letters):
        raise AssertionError(f"You can not use the same dimension shorthand twice. input_format: {input_format}")
    if tensor.ndim != len(letters):
        raise AssertionError(
            f"size of input tensor and input format are different. "
            f"tensor shape: {tensor.shape}, input_format: {input_format}"
        )
    wanted = {2: "HW", 3: "HWC", 4: "NCHW"}.get(len(letters))
    if wanted is None or set(wanted) != set(letters):
        raise AssertionError(f"input_format: expected the letters of HW, HWC or NCHW in any order, got {input_format}")
    image = tensor.transpose([letters.index(letter) for letter in wanted])
    if wanted == "NCHW":
        return make_grid(image).transpose(1, 2, 0)
    if wanted == "HW":
        image = image[:, :, np.newaxis]
    return np.repeat(image, 3, axis=2) if image.shape[2] == 1 else image


def as_bytes(image: Array) -> Array:
    """Values from 0 to 255, of an image that has those already (uint8) or values from 0 to 1 (all other dtypes)."""
    scale = 1 if image.dtype == np.uint8 else 255
    scaled: Array = (image.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    return scaled


# Images -> summaries ----------------------------------------------------------------------------------------------


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """The summary of an image, or of a batch as one grid; floats from 0 to 1, or uint8."""
    picture = make_image(as_bytes(convert_to_HWC(make_np(tensor), dataformats)), rescale=rescale)
    return Summary(value=[Summary.Value(tag=tag, image=picture)])


def image_boxes(
    tag: str,
    tensor_image: Any,
    tensor_boxes: Any,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: Sequence[str] | None = None,
) -> Any:
    """The summary of an image with boxes drawn on it; a row of `tensor_boxes` is left, top, right, bottom in pixels."""
    pixels = as_bytes(convert_to_HWC(make_np(tensor_image), dataformats))
    picture = make_image(pixels, rescale=rescale, rois=make_np(tensor_boxes), labels=labels)
    return Summary(value=[Summary.Value(tag=tag, image=picture)])


def make_image(
    tensor: Array, rescale: float = 1, rois: Array | None = None, labels: Sequence[str] | None = None
) -> Any:
    """The PNG of an image of bytes, scaled after the boxes `rois` are drawn; it records the size before scaling."""
    from PIL import Image

    height, width, channels = tensor.shape
    picture = Image.fromarray(tensor)
    if rois is not None:
        picture = draw_boxes(picture, rois, labels=labels)
    picture = picture.resize((int(width * rescale), int(height * rescale)), Image.Resampling.LANCZOS)
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=png(picture))


def png(picture: Image) -> bytes:
    """The bytes of a PNG file."""
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return file.getvalue()


def draw_boxes(disp_image: Image, boxes: Array, labels: Sequence[str] | None = None) -> Image:
    """Draw the boxes, each with its label at the lower left, onto the picture; returns the picture."""
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default()
    draw = ImageDraw.Draw(disp_image)
    for number, (left, top, right, bottom) in enumerate(boxes[:, :4]):
        around = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(around, width=BOX_WIDTH, fill=BOX_COLOR)
        if labels is None or not labels[number]:
            continue
        x0, y0, x1, y1 = font.getbbox(labels[number])
        text_width, text_height = x1 - x0, y1 - y0
        margin = np.ceil(0.05 * text_height)
        ground = [(left, bottom - text_height - 2 * margin), (left + text_width, bottom)]
        draw.rectangle(ground, fill=BOX_COLOR)
        place = (left + margin, bottom - text_height - margin)
        draw.text(place, labels[number], fill=LABEL_COLOR, font=font)
    return disp_image


def figure_to_image(figures: Figure | list[Figure], close: bool = True) -> Array:
    """What matplotlib draws for a figure, as an image (3, height, width); a list of figures becomes a batch."""
    if isinstance(figures, list):
        return np.stack([figure_to_image(figure, close) for figure in figures])
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figures)  # matplotlib does not say what it returns
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())  # (height, width, 4): a copy, as the canvas goes
    if close:
        plt.close(figures)
    return pixels[:, :, :3].transpose(2, 0, 1)


# Videos -----------------------------------------------------------------------------------------------------------


def video(tag: str, tensor: Any, fps: float = 4) -> Any:
    """The summary of a batch of videos (n, frames, channels, height, width), shown beside each other as one GIF."""
    return Summary(value=[Summary.Value(tag=tag, image=make_video(as_bytes(prepare_video(make_np(tensor))), fps))])


def prepare_video(videos: Array) -> Array:
    """The frames (frames, height, width, channels) that show a batch of videos in a grid, filled up with black.

    The number of cells is the next power of two, in as many rows as columns or fewer: one row for up to three videos.
    """
    if videos.ndim != 5:
        raise AssertionError(f"expected videos (n, frames, channels, height, width), got shape {videos.shape}")
    if videos.dtype == np.uint8:
        videos = videos.astype(np.float32) / 255.0
    count, frames, channels, height, width = videos.shape
    cells = 1 << (count - 1).bit_length()
    if cells > count:
        black = np.zeros((cells - count, frames, channels, height, width))
        videos = np.concatenate((videos, black))
    rows = 1 << ((count.bit_length() - 1) // 2)
    grid = videos.reshape(rows, cells // rows, frames, channels, height, width)
    grid = grid.transpose(2, 0, 4, 1, 5, 3)  # (frames, rows, height, columns, width, channels)
    return grid.reshape(frames, rows * height, cells // rows * width, channels)


def make_video(tensor: Array, fps: float) -> Any:
    """The GIF of frames of bytes (frames, height, width, 1 or 3), repeated for ever."""
    from PIL import Image

    _, height, width, channels = tensor.shape
    frames = [Image.fromarray(frame.squeeze(-1) if channels == 1 else frame) for frame in tensor]
    file = io.BytesIO()
    frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:], duration=round(1000 / fps), loop=0)
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())
