"""Ops that change parts of 1.x variables without handles, and return the new value: `ScatterAdd` and the like."""

from headrace._src.core import dtypes, errors
from headrace._src.op.definition import Op
from headrace._src.op.registry import lookup
from headrace._src.op.traits import WRITES_VARIABLE
from headrace._src.state import scatter, storage
from headrace._src.state.storage import shape_in, storage_of


def _returning(name, text, change, **types):
    """An op that does what another does to a variable with a handle, and then reads it."""

    def kernel(ref, *inputs, **attrs):
        change(ref, *inputs, **attrs)
        return storage_of(ref).read()

    Op(
        name,
        f"ref: resource, {text} -> output_ref: T",
        traits=WRITES_VARIABLE,
        infer=lambda ref, *inputs, **attrs: shape_in(ref),
        kernel=kernel,
        lower=None,  # such variables exist in sessions only
        grad=None,
        stateful=True,
        **types,
    )


def _rows(kind):
    record = lookup(f"ResourceScatter{kind}")

    def change(ref, indices, updates, use_locking):
        record.kernel(ref, indices, updates)

    default = kind == "Update"
    text = f"indices: Tindices, updates: T, *, use_locking: bool = {default}"
    _returning(f"Scatter{kind}", text, change, Tindices=dtypes.INDEX)


def _places(kind):
    record = lookup(f"ResourceScatterNd{kind}")

    def change(ref, indices, updates, use_locking, bad_indices_policy):
        if bad_indices_policy not in ("", "DEFAULT", "ERROR"):
            raise errors.unimplemented(f"ScatterNd{kind}: bad_indices_policy {bad_indices_policy!r}: indices must fit.")
        record.kernel(ref, indices, updates, use_locking=use_locking)

    text = (
        f"indices: Tindices, updates: T, *, use_locking: bool = {kind == 'Update'}, bad_indices_policy: string = ''"
    )
    _returning(f"ScatterNd{kind}", text, change, Tindices=dtypes.INDEX)


def _slices():
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    text = "begin: Index, end: Index, strides: Index, value: T, *, " + ", ".join(f"{mask}: int = 0" for mask in masks)
    _returning("StridedSliceAssign", text, scatter.STRIDED_SLICE_ASSIGN.kernel, Index=dtypes.INDEX)


COUNT_UP_TO = Op(
    "CountUpTo",
    "ref: resource, *, limit: int, T: type -> output: T",
    traits=WRITES_VARIABLE,
    infer=lambda ref, limit, T: shape_in(ref),
    kernel=lambda ref, limit, T: storage.COUNT_UP_TO.kernel(ref, limit=limit, T=T),
    lower=None,  # it stops at a value
    grad=None,
    stateful=True,
    T=frozenset({dtypes.int32, dtypes.int64}),
)
for _kind in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
    _rows(_kind)
for _kind in ("Update", "Add", "Sub", "Min", "Max"):
    _places(_kind)
_slices()
