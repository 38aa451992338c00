"""`Dataset.scan`: a function of each element and of a state that goes from one element to the next."""

from collections.abc import Callable
from typing import Any

from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running import structures
from headrace._src.data.running.cursors import CallingCursor
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import UNKNOWN, Stage, shapes_of, stage_of
from headrace._src.data.running.state_functions import trace_with_state
from headrace._src.op.api import api


class ScanStage(Stage):
    """A function of each element and a state."""

    method = "Dataset.scan"

    def __init__(self, source, initial, function, shapes, keeps_size):
        super().__init__(shapes, [source])
        self.source = source
        self.initial = initial
        self.function = function
        self.functions = [function]
        self.keeps_size = keeps_size

    def cardinality(self):
        return self.source.cardinality() if self.keeps_size else UNKNOWN

    def walk(self, run):
        return _ScanCursor(self, run)


class _ScanCursor(CallingCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._state = stage.initial

    def next(self):
        element = self._pull()
        if element is None:
            return None
        results = self._call(self._stage.function, (*self._state, *element))
        count = len(self._state)
        self._state = results[:count]
        return results[count:]

    def state(self):
        return {**super().state(), "state": list(self._state)}

    def restore(self, state):
        super().restore(state)
        self._state = tuple(state["state"])


def _make(
    input_dataset, initial_state, other_arguments, f, output_types, output_shapes, preserve_cardinality, **unused
):
    function = ElementFunction(f, other_arguments)
    return ScanStage(
        stage_of(input_dataset), tuple(initial_state), function, shapes_of(output_shapes), preserve_cardinality
    )


SCAN_DATASET = dataset_op(
    "ScanDataset",
    "input_dataset: variant, initial_state: list(Tstate), other_arguments: list(Targuments), *, f: func, "
    f"{OUTPUTS}, preserve_cardinality: bool = False, use_default_device: bool = True",
    _make,
)


def _new_state(spec):
    if not (type(spec) is tuple and len(spec) == 2):
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but "
            f"its return type is {spec}."
        )
    return spec[0]


@method
def scan(self, initial_state, scan_func, name=None) -> DatasetV2:
    """A function of each element and of a state.

    Args:
        initial_state: the state for the first element, a tensor or structure of tensors.
        scan_func: a function of the state and an element that returns the pair of the new state and the new element.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(1, 5).scan(np.int64(0), lambda total, x: (total + x, total + x))
    >>> [int(x) for x in dataset]
    [1, 3, 6, 10]
    """
    state = structures.normalized(initial_state, "Dataset.scan")
    spec = structures.spec_of(state)
    traced, _ = trace_with_state(scan_func, spec, self.element_spec, _new_state, "Dataset.scan", "scan_func")
    components = structures.to_components(spec, state)
    return build(
        "_ScanDataset", SCAN_DATASET, self, components, traced.captures, f=traced.graph, preserve_cardinality=True,
        spec=traced.output_spec[1], of=[self], name=name,
    )  # fmt: skip


@api("data.experimental.scan", dispatch=False)
def _scan(initial_state, scan_func) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)
