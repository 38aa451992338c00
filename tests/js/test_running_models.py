"""Models as TensorFlow.js computes them in Node, where it is: `scripts/js_models` runs all, and in a browser, too."""

import comparing
import model_cases
import pytest

pytestmark = [
    pytest.mark.xdist_group("TensorFlow.js"),  # the models are computed together
    pytest.mark.slow,
    pytest.mark.skipif(
        not comparing.has_node(), reason="Node and TensorFlow.js are not there: scripts/js_models installs it"
    ),
]
SEED = 3


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """What the models compute, and what they should; each written in its formats, and run by one process."""
    return comparing.compared(
        {name: case for name, case in model_cases.CASES.items() if not case.large},
        tmp_path_factory.mktemp("models"), SEED, comparing.computed_in_node,
    )  # fmt: skip


@pytest.mark.parametrize(
    "key", [f"{name} {form}" for name, case in model_cases.CASES.items() if not case.large for form in case.formats]
)
def test_it_computes_the_same(computed, key):
    assert computed[key].difference is None


def test_another_value_of_a_weight_is_noticed(computed, tmp_path):
    some = ["convolution graph", "convolution layers", "attention graph", "long_memory layers", "residual graph"]
    jobs, expected = [], []
    for number, key in enumerate(some):
        found = computed[key]
        if comparing.mutate(found.job["folder"], tmp_path / str(number)):
            jobs.append({**found.job, "folder": str(tmp_path / str(number))})
            expected.append(found.expected)
    assert len(jobs) == len(some)
    for result, right in zip(comparing.computed_in_node(jobs), expected):
        assert "largest error" in comparing.difference(result, right)
