"""The fused optimizer ops of TensorFlow's graphs, such as `ResourceApplyAdam`: one op updates a variable and its slots.

headrace's own optimizers are made of other ops; graphs and models that TensorFlow has written have these. Each is there
for variables with handles and, with another name, for those without; some also for rows of the variable.
"""

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.op.definition import Op
from headrace._src.op.lowering import NotLowerable
from headrace._src.op.traits import WRITES_VARIABLE
from headrace._src.state import optimizer_formulas as formulas
from headrace._src.state.storage import shape_in, storage_of


class _Optimizer(NamedTuple):
    """A formula with the names of its inputs.

    Attributes:
        slots: what it keeps besides the variable.
        inputs: its other inputs.
        formula: see optimizer_formulas.py.
        sparse: whether there is an op for rows.
        attribute: one with its default.
        references: whether there is an op for variables without handles.
    """

    slots: str
    inputs: str
    formula: Callable
    sparse: bool = True
    attribute: str = ""
    references: bool = True


_NESTEROV, _SLOTS = "use_nesterov: bool = False", "update_slots: bool = True"
_LINEAR = "multiply_linear_by_lr: bool = False"
_OPTIMIZERS = {
    "GradientDescent": _Optimizer("", "alpha delta", formulas.gradient_descent, sparse=False),
    "ProximalGradientDescent": _Optimizer("", "alpha l1 l2 grad", formulas.proximal_gradient_descent),
    "Momentum": _Optimizer("accum", "lr grad momentum", formulas.momentum, attribute=_NESTEROV),
    "KerasMomentum": _Optimizer(
        "accum", "lr grad momentum", formulas.keras_momentum, attribute=_NESTEROV, references=False
    ),
    "Adagrad": _Optimizer("accum", "lr grad", formulas.adagrad, attribute=_SLOTS),
    "AdagradV2": _Optimizer("accum", "lr epsilon grad", formulas.adagrad_with_epsilon, attribute=_SLOTS),
    "ProximalAdagrad": _Optimizer("accum", "lr l1 l2 grad", formulas.proximal_adagrad),
    "AdagradDA": _Optimizer(
        "gradient_accumulator gradient_squared_accumulator", "grad lr l1 l2 global_step",
        formulas.adagrad_dual_averaging,
    ),
    "Adadelta": _Optimizer("accum accum_update", "lr rho epsilon grad", formulas.adadelta),
    "Adam": _Optimizer(
        "m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad", formulas.adam, sparse=False, attribute=_NESTEROV
    ),
    "AdamWithAmsgrad": _Optimizer(
        "m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad", formulas.adam_with_amsgrad, sparse=False,
        references=False,
    ),
    "AdaMax": _Optimizer("m v", "beta1_power lr beta1 beta2 epsilon grad", formulas.adamax, sparse=False),
    "RMSProp": _Optimizer("ms mom", "lr rho momentum epsilon grad", formulas.rms_prop),
    "CenteredRMSProp": _Optimizer("mg ms mom", "lr rho momentum epsilon grad", formulas.centered_rms_prop),
    "Ftrl": _Optimizer("accum linear", "grad lr l1 l2 lr_power", formulas.ftrl, attribute=_LINEAR),
    "FtrlV2": _Optimizer(
        "accum linear", "grad lr l1 l2 l2_shrinkage lr_power", formulas.ftrl_with_shrinkage, attribute=_LINEAR
    ),
    "AddSign": _Optimizer("m", "lr alpha sign_decay beta grad", formulas.add_sign, sparse=False),
    "PowerSign": _Optimizer("m", "lr logbase sign_decay beta grad", formulas.power_sign, sparse=False),
}  # fmt: skip
_OF_THE_VARIABLE = ("grad", "delta")  # inputs of its shape; others are scalars
_TYPES = {"T": dtypes.FLOATING | dtypes.COMPLEX}


def _signature(optimizer, sparse, references, renamed):
    """The inputs and attributes of an op, as text, and the names of its inputs after the variable and the slots."""
    names = []
    for name in optimizer.inputs.split():
        names.append(renamed.get(name, name))
        if sparse and name in _OF_THE_VARIABLE:
            names.append("indices")
    kinds = {"indices": "Tindices", "global_step": "int64"}
    inputs = ", ".join(f"{name}: {kinds.get(name, 'T')}" for name in names)
    handles = "".join(f"{name}: resource, " for name in ["var", *optimizer.slots.split()])
    attributes = "use_locking: bool = False" + (f", {optimizer.attribute}" if optimizer.attribute else "")
    return f"{handles}{inputs}, *, {attributes} -> {'out: T' if references else ''}", names


def _checked(op, names, arrays, values):
    """Refuse slots, gradients and numbers that do not fit the variable."""
    shape = arrays[0].shape
    for slot in arrays[1:]:
        if slot.shape != shape:
            raise errors.invalid_argument(f"{op}: the variable has shape {shape}, one of its slots {slot.shape}.")
    rows = values["indices"].shape if "indices" in values else None
    if rows is not None and (len(rows) != 1 or not shape):
        raise errors.invalid_argument(f"{op}: indices must be one-dimensional, and the variable at least, got {rows}.")
    for name in names:
        if name == "indices":
            continue
        wanted = () if name not in _OF_THE_VARIABLE else shape if rows is None else rows + shape[1:]
        if values[name].shape != wanted:
            raise errors.invalid_argument(f"{op}: {name} must have shape {wanted}, got {values[name].shape}.")
    if rows is not None and values["indices"].size:
        indices = values["indices"]
        wrong = np.flatnonzero((indices < 0) | (indices >= shape[0]))
        if wrong.size:
            raise errors.invalid_argument(
                f"{op}: Index {indices[wrong[0]]} at offset {wrong[0]} in indices is out of range [0, {shape[0]})."
            )


def _rounds(indices):
    """Positions in `indices`, in groups without repeated rows: a row that occurs twice is updated twice, in order."""
    order = np.argsort(indices, kind="stable")
    starts = np.flatnonzero(np.r_[True, indices[order][1:] != indices[order][:-1]]) if order.size else order
    occurrence = np.empty(order.size, np.intp)
    occurrence[order] = np.arange(order.size) - np.repeat(starts, np.diff(np.r_[starts, order.size]))
    return [np.flatnonzero(occurrence == number) for number in range(occurrence.max(initial=-1) + 1)]


def _make(name, optimizer, sparse, references):
    # TF: the gradient of this one is called otherwise where it is dense.
    renamed = {"grad": "delta"} if optimizer.formula is formulas.proximal_gradient_descent and not sparse else {}
    text, names = _signature(optimizer, sparse, references, renamed)
    count = 1 + len(optimizer.slots.split())
    meant = {given: own for own, given in renamed.items()}

    def new_values(xp, arrays, values, attrs):
        found = {meant.get(key, key): value for key, value in values.items() if key != "indices"}
        return optimizer.formula(xp, *arrays, **found, **attrs)

    def kernel(*inputs, use_locking, **attrs):
        storages = [storage_of(handle) for handle in inputs[:count]]
        values = dict(zip(names, inputs[count:], strict=True))
        with contextlib.ExitStack() as locks:
            for storage in sorted(storages, key=id):  # in one order always: two updates must not wait for each other
                locks.enter_context(storage.lock)
            arrays = [storage.read() for storage in storages]
            _checked(name, names, arrays, values)
            results = by_rows(arrays, values, attrs) if sparse else new_values(np, arrays, values, attrs)
            for storage, array in zip(storages, results):
                storage.set(np.asarray(array, storage.dtype._np))
        return storages[0].read() if references else None

    def by_rows(arrays, values, attrs):
        changed = [array.copy() for array in arrays]
        for places in _rounds(values["indices"]):
            rows = values["indices"][places]
            part = {**values, "grad": values["grad"][places]}
            for array, new in zip(changed, new_values(np, [array[rows] for array in changed], part, attrs)):
                array[rows] = new
        return changed

    def lower(ctx, *inputs, use_locking, **attrs):
        arrays = [ctx.read_variable(handle) for handle in inputs[:count]]
        values = dict(zip(names, inputs[count:], strict=True))
        for key, value in values.items():
            if value.shape != (arrays[0].shape if key in _OF_THE_VARIABLE else ()):
                raise NotLowerable("inputs that do not fit the variable")
        for handle, array in zip(inputs[:count], new_values(jnp, arrays, values, attrs)):
            ctx.assign_variable(handle, array.astype(arrays[0].dtype))

    types = {**_TYPES, "Tindices": dtypes.INDEX} if sparse else _TYPES
    op = Op(
        name,
        text,
        traits=WRITES_VARIABLE,
        infer=(lambda var, *rest, **attrs: shape_in(var)) if references else (lambda *inputs, **attrs: ()),
        kernel=kernel,
        # Rows may be repeated, and references exist in sessions only.
        lower=None if sparse or references else lower,
        grad=None,
        stateful=True,
        **types,
    )
    op.writes = count
    return op


for _name, _optimizer in _OPTIMIZERS.items():
    _make(f"ResourceApply{_name}", _optimizer, False, False)
    if _optimizer.references:
        _make(f"Apply{_name}", _optimizer, False, True)
    if _optimizer.sparse:
        _make(f"ResourceSparseApply{_name}", _optimizer, True, False)
        if _optimizer.references:
            _make(f"SparseApply{_name}", _optimizer, True, True)
