"""Lines of comma-separated values as columns: `tf.io.decode_csv`."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.formats.csv_fields import MalformedLine, fields_of
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.strings.kernel_arrays import attribute_bytes, string_array
from headrace._src.ops.strings.numbers import parse_number

_TYPES = frozenset({dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string})


def read_column(op, column, field, kind, default, absent):
    """The values of one field of all records.

    Args:
        op: for messages.
        column: the strings.
        field: the number of the field, for messages.
        kind: the NumPy dtype; object for strings.
        default: an array of the value that stands for a missing one; empty when the field is required.
        absent: strings that stand for a missing value.
    """
    lacking = [i for i, item in enumerate(column) if item in absent] if absent & set(column) else []
    if lacking and not default.size:
        raise errors.invalid_argument(f"{op}: Field {field} is required but missing in record {lacking[0]}.")
    if kind == object:
        if lacking:
            column = list(column)
            for i in lacking:
                column[i] = default.reshape(-1)[0]
        return string_array(list(column), (len(column),))
    if lacking:
        column = list(column)
        for i in lacking:
            column[i] = b"0"
    values = _numbers(op, column, field, kind)
    if lacking:
        values[lacking] = default.reshape(-1)[0]
    return values


def _numbers(op, column, field, kind):
    # Python reads numbers as TensorFlow does, but for underscores, hexadecimal floats, and rounding to float32.
    if b"_" not in b"".join(column):
        try:
            if kind.kind == "f":
                values = np.array(list(map(float, column)), np.float64)
                if kind == np.float64 or not (values.view(np.uint64) & 0x1FFFFFFF == 0x10000000).any():
                    with np.errstate(over="ignore"):
                        return values.astype(kind)
            else:
                values = np.array(list(map(int, column)), np.int64)
                limits = np.iinfo(kind)
                if not values.size or (values.min() >= limits.min and values.max() <= limits.max):
                    return values.astype(kind)
        except (ValueError, OverflowError):
            pass
    values = np.empty(len(column), kind)
    for i, item in enumerate(column):
        try:
            with np.errstate(over="ignore"):
                values[i] = parse_number(op, item, kind)
        except errors.InvalidArgumentError:
            raise errors.invalid_argument(
                f"{op}: Field {field} in record {i} is not a valid {kind.name}: {item!r}."
            ) from None
    return values


def _check_fields(record_defaults):
    if not record_defaults:
        raise errors.invalid_argument("DecodeCSV: record_defaults must have at least one field, got none.")


def _infer(records, record_defaults, **attrs):
    _check_fields(record_defaults)
    return ([records.shape] * len(record_defaults),)


def _decode_kernel(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols):
    op = "DecodeCSV"
    delimiter = attribute_bytes(field_delim)
    if len(delimiter) != 1:
        raise errors.invalid_argument(f"{op}: field_delim must be one character, got {field_delim!r}.")
    _check_fields(record_defaults)
    if select_cols and (
        len(select_cols) != len(record_defaults)
        or select_cols[0] < 0
        or any(a >= b for a, b in zip(select_cols, select_cols[1:]))
    ):
        raise errors.invalid_argument(
            f"{op}: select_cols must be {len(record_defaults)} ascending column numbers, got {list(select_cols)}."
        )
    for i, default in enumerate(record_defaults):
        if default.ndim > 1 or default.size > 1:
            raise errors.invalid_argument(
                f"{op}: a record default must be a scalar or a vector of at most one element, got shape "
                f"{default.shape} for field {i}."
            )
        if (dtypes.string if default.dtype == object else dtypes.FROM_NUMPY[default.dtype]) not in _TYPES:
            raise errors.invalid_argument(
                f"{op}: record_defaults must be float32, float64, int32, int64 or string, got {default.dtype}."
            )
    wanted = select_cols[-1] + 1 if select_cols else None
    count = len(record_defaults)
    rows = []
    for i, record in enumerate(records.ravel().tolist()):
        try:
            fields = fields_of(record, delimiter, use_quote_delim, wanted)
        except MalformedLine as error:
            raise errors.invalid_argument(f"{op}: record {i}: {error}.") from None
        if select_cols:
            fields = [fields[column] for column in select_cols if column < len(fields)]
        if len(fields) != count:
            raise errors.invalid_argument(f"{op}: Expect {count} fields but have {len(fields)} in record {i}.")
        rows.append(fields)
    columns = list(zip(*rows)) if rows else [()] * count
    absent = {b"", attribute_bytes(na_value)}
    return [
        read_column(op, column, i, default.dtype, default, absent).reshape(records.shape)
        for i, (column, default) in enumerate(zip(columns, record_defaults))
    ]


def _vectorize_csv(batch, node, records, defaults):
    if not records.stacked:
        raise NoRule("it reads the same line for each element")
    return batch.apply(node, [records, [unstacked(value, "default") for value in defaults]])


# In signatures, commas stand between arguments: the default delimiter is written as its code.
DECODE_CSV = Op(
    "DecodeCSV",
    "records: string, record_defaults: list(OUT_TYPE), *, field_delim: string = '\\x2c', use_quote_delim: bool = True, "
    "na_value: string = '', select_cols: list(int) = [] -> output: list(OUT_TYPE)",
    OUT_TYPE=_TYPES,
    infer=_infer,
    kernel=_decode_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
    vectorize=_vectorize_csv,
)


@api("io.decode_csv")
def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None
) -> list[Tensor]:
    """Lines of comma-separated values as one tensor per column.

    Args:
        records: strings, one line each.
        record_defaults: for each column a scalar or a vector of one element, which says the dtype (float32, float64,
            int32, int64 or string) and stands for missing values; an empty vector when the column is required.
        field_delim: the character between fields.
        use_quote_delim: whether fields may stand in double quotes.
        na_value: a string that stands for a missing value, as the empty one does.
        select_cols: the numbers of the columns to return, ascending; all if None.
        name: a name for the operation.

    Returns:
        A list of tensors of the shape of `records`.

    Raises:
        InvalidArgumentError: a line has too few or too many fields, quotes in the wrong place, or something that is no
            number.

    >>> age, name = tf.io.decode_csv(["29,Ada", "31,Bob"], [[0], [""]])
    >>> age.numpy().tolist(), name.numpy().tolist()
    ([29, 31], [b'Ada', b'Bob'])
    """
    if select_cols is not None:
        select_cols = [int(column) for column in select_cols]
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError(f"io.decode_csv: select_cols must be strictly increasing, got {select_cols}.")
        if select_cols and select_cols[0] < 0:
            raise ValueError(f"io.decode_csv: select_cols must not be negative, got {select_cols}.")
        if len(select_cols) != len(record_defaults):
            raise ValueError(
                f"io.decode_csv: {len(select_cols)} select_cols, but {len(record_defaults)} record_defaults."
            )
    return DECODE_CSV(
        to_tensor(records, dtypes.string),
        list(record_defaults),
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols or [],
        name=name,
    )
