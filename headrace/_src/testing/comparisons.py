"""Assertions about tensors, arrays and structures of them, for test cases."""

# ruff: noqa: PT009  these are the assertions that others are told to use instead

import collections.abc
import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.lazy import protobuf_text_format
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor

_WIDER = {"bfloat16": np.float32}


class Comparisons:
    """Assertions of `tf.test.TestCase`. Its `evaluate` says how tensors become arrays."""

    # Values near each other.

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None) -> None:
        """Fail unless two arrays, or structures of arrays, have the same shapes and nearly the same numbers.

        Args:
            a, b: tensors, arrays, numbers, or lists, tuples, dictionaries and named tuples of them.
            rtol, atol: `|a - b| <= atol + rtol * |b|` must hold for each number; NaN is near NaN.
            msg: what to say before the differences.
        """
        self._all_close(a, b, rtol, atol, (), msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None) -> Any:
        """Fail if `assertAllClose` does not."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(_said(msg, "the two values are close at all elements"))

    def assertAllCloseAccordingToType(
        self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3, half_atol=1e-3,
        bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None,
    ) -> None:  # fmt: skip
        """As `assertAllClose`, with the largest tolerance that a dtype of the two asks for."""
        kinds = {np.dtype(x.dtype).name for x in map(self._array, (a, b))}
        for names, relative, absolute in (
            ({"float32", "complex64"}, float_rtol, float_atol),
            ({"float16"}, half_rtol, half_atol),
            ({"bfloat16"}, bfloat16_rtol, bfloat16_atol),
        ):
            if kinds & names:
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNear(self, f1, f2, err, msg=None) -> None:
        """Fail unless two numbers differ by at most `err`, or are equal (infinities are)."""
        if f1 != f2 and not abs(f1 - f2) <= err:
            raise AssertionError(_said(msg, f"{f1!r} and {f2!r} differ by more than {err!r}"))

    def assertArrayNear(self, farray1, farray2, err, msg=None) -> None:
        """Fail unless two lists of numbers are equally long and differ by at most `err` everywhere."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for first, second in zip(farray1, farray2):
            self.assertNear(float(first), float(second), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None) -> None:
        """Fail unless the difference of two arrays has a norm less than `err`."""
        first, second = self._array(ndarray1), self._array(ndarray2)
        if first.shape != second.shape or not np.linalg.norm(first - second) < err:
            raise AssertionError(_said(msg, f"{first} and {second} are not within {err} of each other"))

    # Equal values.

    def assertAllEqual(self, a, b, msg=None) -> Any:
        """Fail unless two arrays have the same shape and equal elements; NaN equals NaN."""
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            return self.assertEqual(_as_lists(a), _as_lists(b), msg)
        if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
            for part in ("indices", "values", "dense_shape"):
                self.assertAllEqual(getattr(a, part), getattr(b, part), msg)
            return None
        first, second = self._array(a), self._array(b)
        self._same_shapes(first, second, msg)
        same = first == second
        if first.dtype.kind in "fc" and second.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(first), np.isnan(second)))
        if not np.all(same):
            raise AssertionError(_said(msg, _differences(first, second, np.logical_not(same), "not equal")))

    def assertNotAllEqual(self, a, b, msg=None) -> Any:
        """Fail if `assertAllEqual` does not."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(_said(msg, "the two values are equal at all elements"))

    # Values and bounds.

    def assertAllGreater(self, a, comparison_target) -> None:
        """Fail unless all elements are greater than a number."""
        self._all("greater than", self._array(a) > comparison_target, a, comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target) -> None:
        """Fail unless all elements are at least a number."""
        self._all("at least", self._array(a) >= comparison_target, a, comparison_target)

    def assertAllLess(self, a, comparison_target) -> None:
        """Fail unless all elements are less than a number."""
        self._all("less than", self._array(a) < comparison_target, a, comparison_target)

    def assertAllLessEqual(self, a, comparison_target) -> None:
        """Fail unless all elements are at most a number."""
        self._all("at most", self._array(a) <= comparison_target, a, comparison_target)

    def assertAllInRange(
        self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False
    ) -> None:
        """Fail unless all elements lie between two bounds, which may themselves be excluded."""
        array = self._array(target)
        above = array > lower_bound if open_lower_bound else array >= lower_bound
        below = array < upper_bound if open_upper_bound else array <= upper_bound
        text = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
        self._all("in", np.logical_and(above, below), target, text)

    def assertAllInSet(self, target, expected_set) -> None:
        """Fail unless all elements are members of a set."""
        array = self._array(target)
        inside = np.array([item in expected_set for item in array.ravel().tolist()], bool).reshape(array.shape)
        self._all("in", inside, target, expected_set)

    # Types, shapes, devices, messages.

    def assertDTypeEqual(self, target, expected_dtype) -> None:
        """Fail unless an array or tensor has a dtype."""
        found = dtypes.as_dtype(target.dtype if isinstance(target, Tensor) else self._array(target).dtype)
        self.assertEqual(found, dtypes.as_dtype(expected_dtype))

    def assertShapeEqual(self, input_a, input_b, msg=None) -> None:
        """Fail unless two arrays or tensors have the same shape."""
        shapes = []
        for value in (input_a, input_b):
            if not isinstance(value, (np.ndarray, Tensor, RaggedTensor, SparseTensor)) and not hasattr(value, "shape"):
                raise TypeError(f"assertShapeEqual: expected an array or a tensor, got {type(value).__name__}.")
            shapes.append(TensorShape(value.shape).as_list())
        self.assertEqual(*shapes, msg)

    def assertDeviceEqual(self, device1, device2, msg=None) -> None:
        """Fail unless two names of devices mean the same one."""
        first, second = [re.sub(r"^/?(\w+:\d+)$", r"/device:\1", str(x or "")).lower() for x in (device1, device2)]
        self.assertEqual(first, second, msg)

    def assertProtoEquals(
        self, expected_message_maybe_ascii, validate_message, msg=None, relative_tolerance=None
    ) -> None:
        """Fail unless two messages are equal. The expected one may be in text format.

        Args:
            expected_message_maybe_ascii: a message, or its text.
            validate_message: a message.
            msg: what to say before the differences.
            relative_tolerance: how far numbers may differ; exactly equal when left out.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            expected = type(validate_message).FromString(b"")
            protobuf_text_format.Merge(expected_message_maybe_ascii, expected)
        if relative_tolerance is None:
            self.assertEqual(str(expected), str(validate_message), msg)
            return
        number = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
        self.assertEqual(number.sub("#", str(expected)), number.sub("#", str(validate_message)), msg)
        for first, second in zip(number.findall(str(expected)), number.findall(str(validate_message))):
            self.assertNear(float(first), float(second), relative_tolerance * abs(float(first)), msg)

    # Errors.

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate) -> Iterator[None]:
        """Within this block an exception must be raised whose text has a pattern, or that a function says yes to.

        Args:
            exception_type: the class.
            expected_err_re_or_predicate: a regular expression to find in the text, or a function of the exception.
        """
        accept = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            if callable(accept):
                fits = accept(error)
            else:
                fits = re.search(accept, error.message if isinstance(error, errors.OpError) else str(error))
            if not fits:
                text = f"Exception of type {type(error).__name__} does not fit {accept!r}: {error}"
                raise AssertionError(text) from None
        else:
            raise self.failureException(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate) -> Any:
        """Within this block an op must fail with a text that has a pattern."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=errors.InvalidArgumentError) -> Any:
        """Within this block an op must fail because shapes do not go together."""
        return self.assertRaisesWithPredicateMatch(exception_type, lambda error: "shape" in str(error).lower())

    # TF: helpers of its own that tests of other packages call.

    def _GetNdArray(self, a) -> Any:
        """A value as an array; a ragged one stays what it is."""
        value = self.evaluate(a) if isinstance(a, (Tensor, CompositeTensor)) or hasattr(a, "numpy") else a
        return value if isinstance(value, (RaggedTensor, np.ndarray)) else np.array(value)

    def _eval_tensor(self, tensor) -> Any:
        """The value of a tensor."""
        return None if tensor is None else self.evaluate(tensor)

    def _assertArrayLikeAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None) -> None:
        self._all_close(a, b, rtol, atol, (), msg)

    def _assertAllCloseRecursive(self, a, b, rtol=1e-6, atol=1e-6, path=None, msg=None) -> None:
        self._all_close(a, b, rtol, atol, tuple(path or ()), msg)

    def _AssertProtoEquals(self, a, b, msg=None) -> None:
        self.assertProtoEquals(a, b, msg)

    # What they share.

    def _array(self, value):
        """A value as an array."""
        if isinstance(value, (list, tuple)) and any(isinstance(x, Tensor) for x in nest.flatten(value)):
            value = nest.map_structure(self.evaluate, value)
        elif not isinstance(value, (np.ndarray, np.generic, bool, int, float, complex, str, bytes, list, tuple)):
            value = self.evaluate(value)
        array = np.asarray(value)
        if array.dtype.kind == "U":  # TF: texts are compared as bytes
            array = np.char.encode(array, "utf-8").astype(object)
        return array.astype(object) if array.dtype.kind == "S" else array

    def _same_shapes(self, a, b, msg):
        if a.shape != b.shape:
            raise AssertionError(_said(msg, f"Shape mismatch: expected {a.shape}, got {b.shape}."))

    def _all(self, relation, holds, value, target):
        if not np.all(holds):
            array = self._array(value)
            wrong = np.argwhere(np.logical_not(holds))[:10].tolist()
            raise AssertionError(f"Not all elements are {relation} {target}: at {wrong} of {array}.")

    def _all_close(self, a, b, rtol, atol, path, msg):
        where = "".join(f"[{key!r}]" for key in path)
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            a, b = _as_lists(a), _as_lists(b)
        if isinstance(a, collections.abc.Mapping) != isinstance(b, collections.abc.Mapping):
            raise ValueError(f"Can't compare a dictionary with something else: a{where} is {a!r}, b{where} is {b!r}.")
        if isinstance(a, collections.abc.Mapping):
            self.assertCountEqual(a.keys(), b.keys(), _said(msg, f"mismatched keys: a{where}, b{where}"))
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, (*path, key), msg)
            return
        if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
            first, second = self._rows(a), self._rows(b)
            if first is None or second is None:  # not rectangular, or with structures inside
                self.assertEqual(len(a), len(b), _said(msg, f"mismatched lengths: a{where}, b{where}"))
                for at, (x, y) in enumerate(zip(a, b)):
                    self._all_close(x, y, rtol, atol, (*path, at), msg)
                return
            a, b = first, second
        first, second = [_widened(self._array(x)) for x in (a, b)]
        self._same_shapes(first, second, _said(msg, f"a{where}, b{where}") if where else msg)
        with np.errstate(all="ignore"):
            close = np.isclose(first, second, rtol=rtol, atol=atol, equal_nan=True)
        if not np.all(close):
            text = f"not close, rtol={rtol}, atol={atol}" + (f", a{where} and b{where}" if where else "")
            raise AssertionError(_said(msg, _differences(first, second, np.logical_not(close), text)))

    def _rows(self, value):
        """A list as one array; None when it cannot be one."""
        if not isinstance(value, (list, tuple)):
            return self._array(value)
        structures = (collections.abc.Mapping, RaggedTensor, SparseTensor)
        if any(isinstance(x, structures) or hasattr(x, "_asdict") for x in value):
            return None
        try:
            array = self._array(list(value))
        except ValueError:
            return None
        return None if array.dtype.kind == "O" else array


def _said(msg, text):
    return text if msg is None else f"{msg}: {text}"


def _as_lists(value):
    if isinstance(value, RaggedTensor):
        return value.to_list()
    return value.tolist() if isinstance(value, np.ndarray) else nest.map_structure(_plain, value)


def _plain(value):
    return np.asarray(value).tolist() if isinstance(value, (Tensor, np.ndarray, np.generic)) else value


def _widened(array):
    return array.astype(_WIDER[array.dtype.name]) if array.dtype.name in _WIDER else array


def _differences(a, b, wrong, text):
    """A few of the places where two arrays differ."""
    places = np.argwhere(wrong)
    if a.ndim == 0:
        return f"{text}: {a} and {b}"
    shown = ", ".join(f"{tuple(place)}: {a[tuple(place)]} and {b[tuple(place)]}" for place in places[:10].tolist())
    return f"{text} at {len(places)} of {wrong.size} elements: {shown}{' ...' if len(places) > 10 else ''}"
