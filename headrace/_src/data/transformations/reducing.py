"""`Dataset.reduce`: all elements combined into one value."""

from typing import Any

from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import method
from headrace._src.data.running import structures
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Run, flat_attrs, stage_of
from headrace._src.data.running.state_functions import check_state_count, trace_with_state
from headrace._src.op.definition import Op


def _reduce_kernel(input_dataset, initial_state, other_arguments, f, **unused):
    stage, function = stage_of(input_dataset), ElementFunction(f, other_arguments)
    state = tuple(initial_state)
    run = Run(stage.options)
    cursor = run.call(stage.cursor, run)
    try:
        while (element := run.call(cursor.next)) is not None:
            state = run.call(function, (*state, *element))
    finally:
        run.stopped.set()
        cursor.close()
    return list(state)


REDUCE_DATASET = Op(
    "ReduceDataset",
    "input_dataset: variant, initial_state: list(Tstate), other_arguments: list(Targuments), *, f: func, "
    "output_types: list(type), output_shapes: list(shape), use_inter_op_parallelism: bool = True, "
    "metadata: string = '' -> components: list(output_types)",
    infer=lambda *inputs, output_shapes, **attrs: ([TensorShape(shape) for shape in output_shapes],),
    kernel=_reduce_kernel,
    lower=None,
    grad=None,
    stateful=True,
    quiet=False,
)


@method
def reduce(self, initial_state, reduce_func, name=None) -> Any:
    """One value made of all elements.

    Args:
        initial_state: a tensor or structure of tensors.
        reduce_func: a function of the state so far and an element that returns the new state.
        name: a name for the operation.

    Returns:
        The last state.

    >>> int(tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x))
    10
    """
    state = structures.normalized(initial_state, "Dataset.reduce")
    before = structures.spec_of(state)
    traced, spec = trace_with_state(
        reduce_func, before, self.element_spec, lambda result: result, "Dataset.reduce", "reduce_func"
    )
    components = structures.to_components(before, state)
    check_state_count(len(components), len(traced.graph.outputs), "Dataset.reduce", "reduce_func")
    outputs = REDUCE_DATASET(
        self._variant_tensor, components, traced.captures, f=traced.graph, name=name,
        **flat_attrs(structures.flat_specs(spec)),
    )  # fmt: skip
    return structures.from_components(spec, outputs)
