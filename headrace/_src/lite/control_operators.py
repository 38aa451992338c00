"""Branches and loops: each function is a graph of the model."""

from headrace._src.core import dtypes
from headrace._src.lite.building import converts
from headrace._src.lite.models import LiteTensor


def _is_fixed(builder, tensor):
    """Whether a tensor is a constant, or a handle, which each graph has its own of."""
    return builder.value(tensor) is not None or builder.tensor(tensor).resource is not None


@converts("StatelessIf", "If")
def _branch(builder, step):
    condition, *arguments = step.inputs
    parts = [builder.model.prepared(step, name) for name in ("then_branch", "else_branch")]
    constants = {number: builder.tensor(x) for number, x in enumerate(arguments) if _is_fixed(builder, x)}
    numbers = [
        builder.model.add_part(part, f"{step.name}_{name}", constants) for part, name in zip(parts, ("then", "else"))
    ]
    inputs = [condition, *[x for number, x in enumerate(arguments) if number not in constants]]
    builder.emit(
        "IF", inputs, step.outputs, "IfOptions", has_effects=builder.model.have_effects(numbers),
        thenSubgraphIndex=numbers[0], elseSubgraphIndex=numbers[1],
    )  # fmt: skip


@converts("StatelessCase", "Case")
def _cases(builder, step):
    """Branches by a number, as branches in branches: of each two, the second chooses among the rest."""
    number, *arguments = step.inputs
    parts = [builder.model.prepared(step, "branches", place) for place in range(len(step.attrs["branches"]))]
    constants = {place: builder.tensor(x) for place, x in enumerate(arguments) if _is_fixed(builder, x)}
    passed = [builder.tensor(x) for place, x in enumerate(arguments) if place not in constants]
    graphs = [builder.model.add_part(part, f"{step.name}_{place}", constants) for place, part in enumerate(parts)]
    for graph in graphs:  # both graphs of a branch take the same, so that this one takes the number too
        builder.model.graphs[graph].inputs.insert(0, LiteTensor("number", dtypes.int32, []))
    _choose(builder, step.name, graphs, builder.integers(number), passed, [builder.tensor(x) for x in step.outputs])


def _choose(builder, name, graphs, number, passed, outputs):
    """Run the first graph if a number is 0, else choose among the others; the last one stands for all other numbers."""
    first, *others = graphs
    is_first = builder.compute("EQUAL", [number, builder.constant(0, dtypes.int32)], [], dtypes.bool, "EqualOptions")

    def rest(other):
        given = [LiteTensor(f"{x.name}/given", x.dtype, x.shape) for x in (number, *passed)]
        results = [LiteTensor(f"{x.name}/chosen", x.dtype, x.shape) for x in outputs]
        other.graph.inputs += given
        one = other.constant(1, dtypes.int32)
        less = other.compute("SUB", [given[0], one], [], dtypes.int32, "SubOptions")
        _choose(other, name, others, less, given[1:], results)
        other.graph.outputs += results

    second = builder.model.add_graph(f"{name}_rest", rest) if len(others) > 1 else [first, *others][-1]
    builder.emit(
        "IF", [is_first, number, *passed], outputs, "IfOptions",
        has_effects=builder.model.have_effects([first, second]), thenSubgraphIndex=first, elseSubgraphIndex=second,
    )  # fmt: skip


@converts("StatelessWhile", "While")
def _loop(builder, step):
    """Constants that no round changes, such as weights, are constants of its graphs: a loop copies what it passes."""
    condition, body = (builder.model.prepared(step, name) for name in ("cond", "body"))
    constants = {
        number: builder.tensor(x)
        for number, x in enumerate(step.inputs)
        if _is_fixed(builder, x) and body.outputs[number] is body.function.inputs[number]
    }
    numbers = [
        builder.model.add_part(condition, f"{step.name}_cond", constants),
        builder.model.add_part(body, f"{step.name}_body", constants, constants),
    ]
    for number in constants:
        builder.same(step.outputs[number], step.inputs[number])
    changing = [number for number in range(len(step.inputs)) if number not in constants]
    builder.emit(
        "WHILE", [step.inputs[n] for n in changing], [step.outputs[n] for n in changing], "WhileOptions",
        has_effects=builder.model.have_effects(numbers), condSubgraphIndex=numbers[0], bodySubgraphIndex=numbers[1],
    )  # fmt: skip
