"""Branches and loops: each function is a graph of the model."""

from headrace._src.lite.building import converts


@converts("StatelessIf", "If")
def _branch(builder, step):
    numbers = [builder.add_graph(step.attrs[name], f"{step.name}_{name}") for name in ("then_branch", "else_branch")]
    builder.emit(
        "IF", step.inputs, step.outputs, "IfOptions", thenSubgraphIndex=numbers[0], elseSubgraphIndex=numbers[1]
    )


@converts("StatelessWhile", "While")
def _loop(builder, step):
    numbers = [builder.add_graph(step.attrs[name], f"{step.name}_{name}") for name in ("cond", "body")]
    builder.emit(
        "WHILE", step.inputs, step.outputs, "WhileOptions", condSubgraphIndex=numbers[0], bodySubgraphIndex=numbers[1]
    )
