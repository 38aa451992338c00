"""Rows of the fused optimizer ops."""

from rows import normal, row, uniform, value

_NUMBERS = {
    "lr": 0.1, "alpha": 0.2, "momentum": 0.9, "epsilon": 0.001, "rho": 0.8, "beta1": 0.9, "beta2": 0.95,
    "beta1_power": 0.5, "beta2_power": 0.7, "l1": 0.05, "l2": 0.1, "l2_shrinkage": 0.01, "lr_power": -0.5,
    "sign_decay": 0.7, "beta": 0.6, "logbase": 1.2,
}  # fmt: skip
# Slots, other inputs, and whether there is an op for rows.
_OPS = {
    "GradientDescent": ("", "alpha delta", False),
    "ProximalGradientDescent": ("", "alpha l1 l2 delta", True),
    "Momentum": ("accum", "lr grad momentum", True),
    "KerasMomentum": ("accum", "lr grad momentum", True),
    "Adagrad": ("accum", "lr grad", True),
    "AdagradV2": ("accum", "lr epsilon grad", True),
    "ProximalAdagrad": ("accum", "lr l1 l2 grad", True),
    "AdagradDA": ("gradient_accumulator gradient_squared_accumulator", "grad lr l1 l2 global_step", True),
    "Adadelta": ("accum accum_update", "lr rho epsilon grad", True),
    "Adam": ("m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad", False),
    "AdamWithAmsgrad": ("m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad", False),
    "AdaMax": ("m v", "beta1_power lr beta1 beta2 epsilon grad", False),
    "RMSProp": ("ms mom", "lr rho momentum epsilon grad", True),
    "CenteredRMSProp": ("mg ms mom", "lr rho momentum epsilon grad", True),
    "Ftrl": ("accum linear", "grad lr l1 l2 lr_power", True),
    "FtrlV2": ("accum linear", "grad lr l1 l2 l2_shrinkage lr_power", True),
    "AddSign": ("m", "lr alpha sign_decay beta grad", False),
    "PowerSign": ("m", "lr logbase sign_decay beta grad", False),
}
_OTHER_NUMBERS = {
    "Ftrl": {"lr_power": -0.3}, "FtrlV2": {"lr_power": -0.3}, "ProximalAdagrad": {"l1": 0.0},
    "ProximalGradientDescent": {"l1": 0.0}, "AdagradDA": {"l1": 0.0},
}  # fmt: skip
_ATTRIBUTES = {
    **dict.fromkeys(["Momentum", "KerasMomentum", "Adam"], "use_nesterov=True"),
    **dict.fromkeys(["Adagrad", "AdagradV2"], "update_slots=False"),
    **dict.fromkeys(["Ftrl", "FtrlV2"], "multiply_linear_by_lr=True"),
}


def _update(name, sparse, numbers, attribute="", dtype="float32", grad=None, **more):
    slots, inputs, _ = _OPS[name]
    lines, arguments = ["v0 = tf.Variable(a)"], ["var=v0.handle"]
    for i, slot in enumerate(slots.split(), 1):
        lines.append(f"v{i} = tf.Variable(s{i})")
        arguments.append(f"{slot}=v{i}.handle")
    for argument in inputs.split():
        if argument in ("grad", "delta"):
            arguments.append(f"{'grad' if sparse else argument}=g")
            arguments += ["indices=i"] if sparse else []
        elif argument == "global_step":
            arguments.append("global_step=tf.constant(3, tf.int64)")
        else:
            arguments.append(f"{argument}=tf.constant({numbers.get(argument, _NUMBERS[argument])}, a.dtype)")
    arguments += [attribute] if attribute else []
    count = len(slots.split())
    lines.append(f"tf.raw_ops.Resource{'Sparse' if sparse else ''}Apply{name}({', '.join(arguments)})")
    lines.append(f"result = [{', '.join(f'v{i}.read_value()' for i in range(count + 1))}]")
    given = {f"s{i}": uniform(0.5, 1.5, 4, 2) for i in range(1, count + 1)}
    if sparse:
        given["i"] = value([2, 0, 2], "int32")
    given = {"a": normal(4, 2), "g": grad or normal(*((3, 2) if sparse else (4, 2))), **given, **more}
    # The last digits depend on how TensorFlow's compiler fuses products and sums.
    return row("\n".join(lines), dtype=dtype, grad=False, rtol=2e-3 if dtype == "float16" else 2e-5, atol=1e-6, **given)


ROWS = [
    *(_update(name, False, {}) for name in _OPS),
    *(_update(name, True, {}) for name, (_, _, sparse) in _OPS.items() if sparse),
    *(_update(name, sparse, numbers) for name, numbers in _OTHER_NUMBERS.items() for sparse in (False, True)),
    *(_update(name, False, {}, attribute) for name, attribute in _ATTRIBUTES.items()),
    *(_update(name, True, {}, attribute) for name, attribute in _ATTRIBUTES.items() if name != "Adam"),
    *(_update(name, False, {}, dtype=dtype) for name in ("Adam", "RMSProp") for dtype in ("float64", "float16")),
    _update("Adam", False, {}, grad=normal(4)),
    _update("Momentum", True, {}, grad=normal(2, 2)),
    _update("Momentum", True, {}, i=value([2, 0, 4], "int32")),
    _update("Momentum", True, {}, i=value([2, -1, 0], "int32")),
    _update("Adagrad", False, {}, s1=uniform(0.5, 1.5, 4)),
]
