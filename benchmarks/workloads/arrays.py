"""Twenty element-wise functions of large arrays, eagerly; the geometric mean of their times counts."""

from workloads.row import Parts
from workloads.weights import noise

# A name in tf.math (or tf), the one in torch, and what the arguments must be: any numbers, or positive ones.
_FUNCTIONS = [
    ("add", "add", "xy"), ("subtract", "sub", "xy"), ("multiply", "mul", "xy"), ("divide", "div", "xp"),
    ("maximum", "maximum", "xy"), ("minimum", "minimum", "xy"), ("pow", "pow", "py"), ("greater", "gt", "xy"),
    ("negative", "neg", "x"), ("abs", "abs", "x"), ("square", "square", "x"), ("sqrt", "sqrt", "p"),
    ("rsqrt", "rsqrt", "p"), ("exp", "exp", "x"), ("log", "log", "p"), ("sin", "sin", "x"), ("tanh", "tanh", "x"),
    ("sigmoid", "sigmoid", "x"), ("erf", "erf", "x"), ("floor", "floor", "x"),
]  # fmt: skip


def _arrays(count):
    return {"x": noise("x", count), "y": noise("y", count), "p": abs(noise("p", count)) + 0.1}


def _parts(functions, arrays):
    calls = (lambda function=function, given=[arrays[name] for name in names]: function(*given)
             for function, names in functions)  # fmt: skip
    return Parts(zip((name for name, _, _ in _FUNCTIONS), calls))


def elementwise(count):
    def build(tf):
        arrays = {name: tf.constant(value) for name, value in _arrays(count).items()}
        return _parts([(getattr(tf.math, name), names) for name, _, names in _FUNCTIONS], arrays)

    return build


def torch_elementwise(count):
    def build(torch, compiled):
        arrays = {name: torch.from_numpy(value) for name, value in _arrays(count).items()}
        return _parts([(getattr(torch, name), names) for _, name, names in _FUNCTIONS], arrays)

    return build
