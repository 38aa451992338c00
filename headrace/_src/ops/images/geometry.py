"""Mirroring, turning and transposing images."""

from __future__ import annotations

from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.control_flow import switch_case
from headrace._src.op.convert import to_tensor
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.measuring import RANK, SHAPE, get_static_value
from headrace._src.ops.arrays.rearranging import REVERSE, TRANSPOSE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.images.checks import at_least_three
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.random import uniform_and_normal
from headrace._src.ops.windows.patches import EXTRACT_IMAGE_PATCHES


def flipped(function, image, axis):
    """The image mirrored along an axis, counted from the end so that it is the same for batches."""
    image = at_least_three(function, image)
    rank = image.shape.rank
    if rank is None:
        require(RANK(image) <= 4, f"image.{function}: image must have either 3 or 4 dimensions.")
    elif rank not in (3, 4):
        raise ValueError(f"image.{function}: image must have either 3 or 4 dimensions, got shape {image.shape}.")
    return REVERSE(image, [axis])


@api("image.flip_left_right")
def flip_left_right(image) -> Tensor:
    """Images mirrored, so that left becomes right.

    Args:
        image: a batch (batch, height, width, channels) or one image.

    >>> tf.image.flip_left_right([[[1], [2], [3]]]).numpy().tolist()
    [[[3], [2], [1]]]
    """
    return flipped("flip_left_right", image, -2)


@api("image.flip_up_down")
def flip_up_down(image) -> Tensor:
    """Images upside down.

    Args:
        image: a batch (batch, height, width, channels) or one image.

    >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy().tolist()
    [[[2]], [[1]]]
    """
    return flipped("flip_up_down", image, -3)


def chosen(condition, yes, no):
    """`yes` where the condition holds, else `no`: only one of them is looked at when the condition is known."""
    if isinstance(condition, EagerTensor) and condition.shape.rank == 0:
        return yes if condition._a else no
    return SELECT_V2(condition, yes, no)


def _random_flip(function, image, axis, draw):
    image = at_least_three(function, image)
    rank = image.shape.rank
    if rank not in (3, 4):
        if rank is None:
            raise ValueError(f"image.{function}: the rank of image must be known.")
        raise ValueError(f"image.{function}: image must have either 3 or 4 dimensions, got shape {image.shape}.")
    turned = REVERSE(image, [axis])
    if rank == 3:
        return chosen(draw([]) < 0.5, turned, image)
    count = image.shape[0]
    number = draw([SHAPE(image)[0] if count is None else count])
    # TF: of a batch, the images are turned whose number rounds to one.
    return chosen(RESHAPE(number > 0.5, [-1, 1, 1, 1]), turned, image)


def _stateful(seed):
    return lambda shape: uniform_and_normal.uniform(shape, 0, 1.0, seed=seed)


def _stateless(seed):
    return lambda shape: uniform_and_normal.stateless_uniform(shape, seed)


@api("image.random_flip_left_right")
def random_flip_left_right(image, seed=None) -> Tensor:
    """Each image mirrored with probability one half.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        seed: the op's own seed; see `tf.random.set_seed`.
    """
    return _random_flip("random_flip_left_right", image, -2, _stateful(seed))


@api("image.random_flip_up_down")
def random_flip_up_down(image, seed=None) -> Tensor:
    """Each image upside down with probability one half.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        seed: the op's own seed; see `tf.random.set_seed`.
    """
    return _random_flip("random_flip_up_down", image, -3, _stateful(seed))


@api("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image, seed) -> Tensor:
    """Each image mirrored with probability one half, depending on nothing but the arguments.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        seed: two integers.

    >>> tf.image.stateless_random_flip_left_right([[[1], [2]]], (2, 3)).numpy().tolist()
    [[[2], [1]]]
    """
    return _random_flip("stateless_random_flip_left_right", image, -2, _stateless(seed))


@api("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image, seed) -> Tensor:
    """Each image upside down with probability one half, depending on nothing but the arguments.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        seed: two integers.
    """
    return _random_flip("stateless_random_flip_up_down", image, -3, _stateless(seed))


@api("image.transpose")
def transpose(image, name=None) -> Tensor:
    """Images with rows and columns exchanged.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        name: accepted for compatibility.

    >>> tf.image.transpose([[[1], [2]]]).numpy().tolist()
    [[[1]], [[2]]]
    """
    image = at_least_three("transpose", image)
    rank = image.shape.rank
    if rank is None:
        raise ValueError("image.transpose: the rank of image must be known.")
    if rank not in (3, 4):
        raise ValueError(f"image.transpose: image must have either 3 or 4 dimensions, got shape {image.shape}.")
    return TRANSPOSE(image, _exchanged(rank), name=name)


def _exchanged(rank):
    return [1, 0, 2] if rank == 3 else [0, 2, 1, 3]


def _turned(image, quarters):
    if quarters == 0:
        return image
    if quarters == 2:
        return REVERSE(image, [-3, -2])
    axes = TRANSPOSE(image, _exchanged(image.shape.rank))
    return REVERSE(axes, [-3 if quarters == 1 else -2])


@api("image.rot90")
def rot90(image, k=1, name=None) -> Tensor:
    """Images turned by quarters, against the clock.

    Args:
        image: a batch (batch, height, width, channels) or one image.
        k: how many quarters, an integer or a scalar tensor.
        name: accepted for compatibility.

    >>> tf.image.rot90([[[1], [2]], [[3], [4]]]).numpy()[..., 0].tolist()
    [[2, 4], [1, 3]]
    """
    image = at_least_three("rot90", image)
    rank = image.shape.rank
    if rank is None:
        raise ValueError("image.rot90: the rank of image must be known.")
    if rank not in (3, 4):
        raise ValueError(f"image.rot90: image must have either 3 or 4 dimensions, got shape {image.shape}.")
    if not isinstance(k, (Tensor, int)):
        k = to_tensor(k, name="k")
    if isinstance(k, Tensor):
        if k.shape.rank not in (None, 0):
            raise ValueError(f"image.rot90: k must be a scalar, got shape {k.shape}.")
        known = get_static_value(k)
        if known is None:
            index = cast(FLOOR_MOD(k, to_tensor(4, k.dtype)), "int32")
            # Partly known shapes of the branches differ.
            return switch_case(index, [lambda q=q: _turned(image, q) for q in range(4)])
        k = whole(known, "k")
    return _turned(image, k % 4)


@api("image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None) -> Tensor:
    """Cuts images into patches, each put into the channels of its position.

    Args:
        images: a batch (batch, height, width, channels).
        sizes: the patch's sizes, four numbers, of which the first and last are 1.
        strides: the distances between patches, four numbers.
        rates: the distances between the pixels of a patch, four numbers.
        padding: "SAME" or "VALID".
        name: a name for the operation.

    >>> images = tf.reshape(tf.range(4), (1, 2, 2, 1))
    >>> tf.image.extract_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").numpy().tolist()
    [[[[0, 1, 2, 3]]]]
    """
    return EXTRACT_IMAGE_PATCHES(
        images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name
    )
