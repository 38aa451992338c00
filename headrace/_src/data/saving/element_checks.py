"""Whether elements that come from outside of the program are of the kind that the pipeline expects."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape

_REMEMBERED_SHAPES = 1024


class ElementCheck:
    """Compares elements with dtypes and shapes.

    Args:
        types: the dtypes of the components.
        shapes: their shapes, as far as these are known.
        origin: where the elements come from, and how it can be that they do not fit, for messages.
    """

    def __init__(self, types: list[dtypes.DType], shapes: list[TensorShape], origin: str):
        self._names = [dtype.name for dtype in types]
        self._stored = [dtype._np if dtype._np is not None else np.dtype(object) for dtype in types]
        self._shapes = shapes
        self._fitting: list[set] = [set() for _ in types]  # for each component, shapes that were found right
        self._origin = origin

    def __call__(self, element: tuple) -> None:
        """Compare one.

        Raises:
            InvalidArgumentError: it is of another kind.
        """
        if len(element) != len(self._stored):
            raise errors.invalid_argument(
                f"An element has {len(element)} components, expected {len(self._stored)}. {self._origin}"
            )
        for number, (array, dtype) in enumerate(zip(element, self._stored)):
            if array.dtype != dtype:
                raise errors.invalid_argument(
                    f"Data type mismatch at component {number}: expected {self._names[number]} but got "
                    f"{array.dtype.name}. {self._origin}"
                )
            if array.shape not in self._fitting[number]:
                self._check_shape(number, array.shape)
            if self._names[number] == "string" and not all(type(item) is bytes for item in array.ravel().tolist()):
                raise errors.invalid_argument(
                    f"Data type mismatch at component {number}: expected string but got variants. {self._origin}"
                )

    def _check_shape(self, number, shape):
        if not self._shapes[number].is_compatible_with(shape):
            raise errors.invalid_argument(
                f"Shape mismatch at component {number}: expected {self._shapes[number]} but got {list(shape)}. "
                f"{self._origin}"
            )
        if len(self._fitting[number]) < _REMEMBERED_SHAPES:
            self._fitting[number].add(shape)
