"""Matrix products leave a processor to the process that compiles, and take it back."""

import os
import subprocess
import sys
import textwrap

import pytest

import headrace as tf
from headrace._src.core.product_threads import lift_limit, one_processor_left, product_threads
from headrace._src.core.random_state import random_state

ALL = product_threads()
FEWER = None if ALL is None else max(1, min(ALL, (os.cpu_count() or 1) - 1))

pytestmark = pytest.mark.skipif(ALL is None, reason="NumPy has its matrix products from elsewhere")


def test_fewer_threads_as_long_as_someone_is_inside():
    with one_processor_left():
        assert product_threads() == FEWER
        with one_processor_left():
            assert product_threads() == FEWER
        assert product_threads() == FEWER
    assert product_threads() == ALL


def test_all_threads_after_an_error():
    with pytest.raises(ValueError, match="no"), one_processor_left():
        raise ValueError("no")
    assert product_threads() == ALL


@pytest.fixture
def _no_seed_afterwards():
    yield
    random_state.set_seed(None)


@pytest.mark.usefixtures("_no_seed_afterwards")
def test_a_global_seed_lifts_the_limit():
    with one_processor_left():
        tf.random.set_seed(1)
        assert product_threads() == ALL
    assert product_threads() == ALL
    lift_limit()
    assert product_threads() == ALL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_all_threads():
    # In a process of its own: jax, which other tests may have loaded, warns of any fork.
    program = """
        import os
        from headrace._src.core.product_threads import one_processor_left, product_threads

        before = product_threads()
        with one_processor_left():
            child = os.fork()
            if not child:
                os._exit(0 if product_threads() == before else 1)
            raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
