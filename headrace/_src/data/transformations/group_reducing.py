"""`tf.data.experimental.group_by_reducer`: the elements of each key combined into one."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import build, dataset_op
from headrace._src.data.running import functions
from headrace._src.data.running.cursors import CallingCursor
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Stage, shapes_of, stage_of
from headrace._src.data.running.state_functions import check_state_count, trace_with_state
from headrace._src.data.transformations.grouping import to_array, traced_key
from headrace._src.op.api import api


@api("data.experimental.Reducer", dispatch=False)
class Reducer:
    """How elements with the same key are combined, for `group_by_reducer`.

    Args:
        init_func: a function of a key that returns the initial state.
        reduce_func: a function of the state and an element that returns the new state.
        finalize_func: a function of the last state that returns the result.
    """

    def __init__(self, init_func, reduce_func, finalize_func) -> None:
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        return self._finalize_func


class GroupByReducerStage(Stage):
    """For each key one element, made of all elements of the input with that key."""

    method = "group_by_reducer"

    def __init__(self, source, key, init, reduce, finalize, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.key, self.init, self.reduce, self.finalize = key, init, reduce, finalize
        self.functions = [key, init, reduce, finalize]

    def walk(self, run):
        return _GroupByReducerCursor(self, run)


class _GroupByReducerCursor(CallingCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._states = {}  # key to state
        self._left = None  # the keys whose results are still to come, the last one first

    def next(self):
        stage = self._stage
        if self._left is None:
            while (element := self._pull()) is not None:
                key = int(self._call(stage.key, element)[0])
                if key not in self._states:
                    self._states[key] = self._call(stage.init, (to_array(key),))
                self._states[key] = self._call(stage.reduce, (*self._states[key], *element))
            self._left = sorted(self._states, reverse=True)
        return self._call(stage.finalize, self._states[self._left.pop()]) if self._left else None

    def state(self):
        states = [[key, list(state)] for key, state in self._states.items()]
        return {**super().state(), "states": states, "left": None if self._left is None else list(self._left)}

    def restore(self, state):
        super().restore(state)
        self._states = {key: tuple(parts) for key, parts in state["states"]}
        self._left = None if state["left"] is None else list(state["left"])


def _make(
    input_dataset, key_func_other_arguments, init_func_other_arguments, reduce_func_other_arguments,
    finalize_func_other_arguments, key_func, init_func, reduce_func, finalize_func, output_types, output_shapes,
):  # fmt: skip
    return GroupByReducerStage(
        stage_of(input_dataset),
        ElementFunction(key_func, key_func_other_arguments),
        ElementFunction(init_func, init_func_other_arguments),
        ElementFunction(reduce_func, reduce_func_other_arguments),
        ElementFunction(finalize_func, finalize_func_other_arguments),
        shapes_of(output_shapes),
    )


GROUP_BY_REDUCER_DATASET = dataset_op(
    "GroupByReducerDataset",
    "input_dataset: variant, key_func_other_arguments: list(Tkey_func_other_arguments), "
    "init_func_other_arguments: list(Tinit_func_other_arguments), "
    "reduce_func_other_arguments: list(Treduce_func_other_arguments), "
    "finalize_func_other_arguments: list(Tfinalize_func_other_arguments), *, key_func: func, init_func: func, "
    "reduce_func: func, finalize_func: func, output_types: list(type), output_shapes: list(shape)",
    _make,
    stateful=True,
)


@api("data.experimental.group_by_reducer", dispatch=False)
def group_by_reducer(key_func, reducer) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: the elements of each key combined into one.

    Args:
        key_func: a function of an element that returns its key, a scalar int64 tensor.
        reducer: a `tf.data.experimental.Reducer`.

    >>> count = tf.data.experimental.Reducer(
    ...     init_func=lambda key: np.int64(0), reduce_func=lambda n, _: n + 1, finalize_func=lambda n: n)
    >>> dataset = tf.data.Dataset.range(10).apply(
    ...     tf.data.experimental.group_by_reducer(lambda x: x % 3, count))
    >>> [int(x) for x in dataset]
    [4, 3, 3]
    """

    def transform(dataset):
        where = "group_by_reducer"
        key = traced_key(key_func, dataset.element_spec, where)
        init = functions.trace(reducer.init_func, TensorSpec([], dtypes.int64), method=where)
        reduce, state = trace_with_state(
            reducer.reduce_func, init.output_spec, dataset.element_spec, lambda spec: spec, where, "reduce_func"
        )
        check_state_count(len(init.graph.outputs), len(reduce.graph.outputs), where, "reduce_func")
        finalize = functions.trace(reducer.finalize_func, state, method=where)
        return build(
            "_GroupByReducerDataset",
            GROUP_BY_REDUCER_DATASET,
            dataset,
            key.captures,
            init.captures,
            reduce.captures,
            finalize.captures,
            key_func=key.graph,
            init_func=init.graph,
            reduce_func=reduce.graph,
            finalize_func=finalize.graph,
            spec=finalize.output_spec,
            of=[dataset],
        )

    return transform
