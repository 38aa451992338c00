"""Numbers written as strings, and strings read as numbers."""

import decimal
import functools
import math
import re

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.strings.kernel_arrays import attribute_text, map_strings, map_values, string_array

_SPACE = b" \t\n\v\f\r"
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(rb"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_SPECIAL = re.compile(rb"([+-]?)(inf|infinity|nan)(?:\([0-9A-Za-z_]*\))?", re.IGNORECASE)
_INT32_MAX = 2**31 - 1


def _unreadable(item, dtype):
    return errors.invalid_argument(f"StringToNumber: cannot read {item!r} as {np.dtype(dtype).name}.")


def _read_integer(item, dtype):
    text = item.strip(_SPACE)
    if not _INTEGER.fullmatch(text) or len(text) > 4000:
        raise _unreadable(item, dtype)
    number, limits = int(text), np.iinfo(dtype)
    if not limits.min <= number <= limits.max or (limits.min == 0 and text.startswith(b"-")):
        raise _unreadable(item, dtype)
    return number


def _read_double(text):
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text.decode())
        except OverflowError:
            return -math.inf if text.startswith(b"-") else math.inf
    match = _SPECIAL.fullmatch(text)
    if match and (match[2].lower() == b"nan" or not text.endswith(b")")):
        return float((match[1] + match[2]).decode())
    return None


def _read_float(item, dtype):
    text = item.strip(_SPACE)
    number = _read_double(text)
    if number is None:
        raise _unreadable(item, dtype)
    if dtype == np.float32 and math.isfinite(number) and _DECIMAL.fullmatch(text):
        return _rounded_once(text.decode(), number)
    return number


_BELOW_SINGLE, _TIE = np.uint64(0x1FFFFFFF), np.uint64(0x10000000)


def _rounded_once(text, number):
    """The double `number` nearest to `text`, moved off a tie between two float32s where `text` is none."""
    bits = np.array(number).view(np.uint64)
    if int(bits) & 0x1FFFFFFF == 0x10000000:
        exact, double = decimal.Decimal(text), decimal.Decimal(number)
        if exact != double:
            return math.nextafter(number, math.inf if exact > double else -math.inf)
    return number


_MANY = 64
_NEWLINE, _MINUS, _POINT, _ZERO, _NINE = b"\n-.09"
_POWERS = 10 ** np.arange(19)
_FRACTIONS = np.array([float(10**power) for power in range(16)])


def _read_plain(items, dtype):
    """Strings of digits, with a minus and a point at most, read together; None when one is something else.

    Up to 15 digits, and the power of ten below them, are doubles exactly; so their quotient is rounded once.
    """
    text = b"\n".join(items) + b"\n"
    characters = np.frombuffer(text, np.uint8)
    is_digit = (characters >= _ZERO) & (characters <= _NINE)
    ends = np.flatnonzero(characters == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    negative = characters[starts] == _MINUS
    points = np.flatnonzero(characters == _POINT)
    floating = dtype.kind == "f"
    kinds = np.count_nonzero(is_digit) + ends.size + np.count_nonzero(negative) + points.size
    if ends.size != len(items) or kinds != characters.size or (points.size and not floating):
        return None
    counts = ends - starts - negative
    fractions = None
    if points.size:
        owners = np.searchsorted(ends, points)
        if not np.all(owners[1:] > owners[:-1]):
            return None
        counts[owners] -= 1
        fractions = ends[owners] - 1 - points
    if counts.min() < 1 or counts.max() > (15 if floating else 18) or (dtype.kind == "u" and negative.any()):
        return None
    digits = characters[is_digit] - np.uint8(_ZERO)
    after = np.cumsum(counts)
    powers = np.repeat(after - 1, counts)
    powers -= np.arange(digits.size)
    values = np.add.reduceat(_POWERS[powers] * digits, after - counts)
    if not floating:
        np.negative(values, out=values, where=negative)
        limits = np.iinfo(dtype)
        if dtype.itemsize < 8 and not (limits.min <= values.min() and values.max() <= limits.max):
            return None
        return values.astype(dtype)
    numbers = values.astype(np.float64)
    if fractions is not None:
        numbers[owners] /= _FRACTIONS[fractions]
    np.negative(numbers, out=numbers, where=negative)
    if dtype == np.float32:
        for place in np.flatnonzero(numbers.view(np.uint64) & _BELOW_SINGLE == _TIE):
            numbers[place] = _rounded_once(items[place].decode(), float(numbers[place]))
    return numbers.astype(dtype)


def parse_number(op, item: bytes, dtype: np.dtype):
    """A string as a number of that NumPy dtype, or InvalidArgumentError in the name of `op`."""
    try:
        return _read_float(item, dtype) if dtype.kind == "f" else _read_integer(item, dtype)
    except errors.InvalidArgumentError:
        raise errors.invalid_argument(f"{op}: cannot read {item!r} as {dtype.name}.") from None


def _to_number(string_tensor, out_type):
    dtype = out_type._np
    if string_tensor.size >= _MANY:
        numbers = _read_plain(string_tensor.ravel().tolist(), dtype)
        if numbers is not None:
            return numbers.reshape(string_tensor.shape)
    read = _read_float if dtype.kind == "f" else _read_integer
    return map_values(functools.partial(read, dtype=dtype), string_tensor, dtype)


STRING_TO_NUMBER = Op(
    "StringToNumber",
    "string_tensor: string, *, out_type: type = float32 -> output: out_type",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=_to_number,
    lower=None,  # strings exist on the host only
    grad=None,
    out_type=dtypes.INDEX | {dtypes.float32, dtypes.float64, dtypes.uint32, dtypes.uint64},
)


@api("strings.to_number", of=STRING_TO_NUMBER)
def to_number(input, out_type=dtypes.float32, name=None) -> Tensor:
    """Read each string as a number.

    >>> tf.strings.to_number(["5", "3.5"]).numpy().tolist()
    [5.0, 3.5]

    Args:
        input: strings; whitespace around the number is ignored.
        out_type: float32, float64, or a 32 or 64 bit integer type.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: for strings that are no number, or one that an integer type cannot hold.
    """
    return STRING_TO_NUMBER(input, out_type=dtypes.as_dtype(out_type), name=name)


def _print_float(number, flags, letter, precision):
    """C's printf for one double, `flags` being fill and width."""
    if math.isfinite(number):
        return f"%{flags}{precision}{letter}" % number
    sign = "-" if math.copysign(1, number) < 0 else ""
    if not sign and flags[:1] in ("+", " "):
        sign = flags[0]
    word = sign + ("nan" if math.isnan(number) else "inf")
    # C does not fill words with zeros.
    return f"%{flags.lstrip('0')}s" % word


def _formatted(pattern, numbers):
    """Each number in that form, as bytes: written in one go, and cut at what occurs in no number."""
    text = f"{pattern}\n" * len(numbers) % tuple(numbers)
    return text.encode().split(b"\n")[:-1]


def _as_string(input, precision, scientific, shortest, width, fill):
    kind = input.dtype.name if input.dtype != object else "string"
    floating = input.dtype.kind in "fc" or kind == "bfloat16"
    if scientific and shortest:
        raise errors.invalid_argument("AsString: scientific and shortest cannot both be true.")
    if len(fill) > 1:
        raise errors.invalid_argument(f"AsString: fill must be at most one character, got {fill!r}.")
    if fill and fill not in " +-0#":
        raise errors.invalid_argument(f"AsString: fill must be one of ' ', '+', '-', '0', '#', got {fill!r}.")
    if not floating and kind != "string":
        if precision > -1:
            raise errors.invalid_argument(f"AsString: precision does not apply to {kind}.")
        if scientific or shortest:
            raise errors.invalid_argument(f"AsString: scientific and shortest do not apply to {kind}.")
    for attribute, number in (("width", width), ("precision", precision)):
        if number > _INT32_MAX:
            raise errors.invalid_argument(f"AsString: {attribute} must be at most 2**31 - 1, got {number}.")
        if number > 0 and number * input.size > _INT32_MAX:
            raise errors.resource_exhausted(f"AsString: {attribute} {number} of {input.size} strings takes too much.")
    flags = fill + (str(width) if width > 0 else "")
    digits = f".{precision}" if precision >= 0 else ""
    if kind == "string":
        if width <= 0:
            return input.copy()
        # As C: the precision cuts, the width fills up.
        end = precision if precision >= 0 else None
        pad = bytes.ljust if fill == "-" else bytes.rjust
        return map_strings(lambda item: pad(item[:end], width), input)
    if kind == "bool":
        items = [b"true" if item else b"false" for item in input.ravel().tolist()]
    elif floating:
        letter = "e" if scientific else "g" if shortest else "f"
        wide = input.astype(np.complex128 if input.dtype.kind == "c" else np.float64).ravel().tolist()
        if input.dtype.kind == "c":
            one = functools.partial(_print_float, flags=flags, letter=letter, precision=digits)
            items = [f"({one(z.real)},{one(z.imag)})".encode() for z in wide]
        elif np.isfinite(input).all():
            items = _formatted(f"%{flags}{digits}{letter}", wide)
        else:
            items = [_print_float(x, flags, letter, digits).encode() for x in wide]
    else:
        if input.dtype.kind == "u" and fill in ("+", " "):
            flags = flags[1:]
        items = _formatted(f"%{flags}d", input.ravel().tolist())
    return string_array(items, input.shape)


AS_STRING = Op(
    "AsString",
    "input: T, *, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, "
    "fill: string = '' -> output: string",
    traits=ELEMENTWISE,
    T=dtypes.NUMBER | dtypes.BOOL | dtypes.STRING,
    infer=same_as_input,
    kernel=_as_string,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.as_string", "as_string", of=AS_STRING)
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None) -> Tensor:
    """Write each number as C's printf would.

    >>> tf.strings.as_string([3.14159, 2.5], precision=2).numpy().tolist()
    [b'3.14', b'2.50']

    Args:
        input: numbers, booleans or strings.
        precision: digits after the point, for floating and complex numbers; 6 when negative.
        scientific: with an exponent (`%e`).
        shortest: with or without one, whichever is shorter (`%g`).
        width: the least width of a number, reached with spaces on the left.
        fill: "0" to fill with zeros, "-" to fill on the right, "+" or " " to give every number a sign.
        name: a name for the operation.
    """
    return AS_STRING(
        input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=attribute_text(fill),
        name=name,
    )
