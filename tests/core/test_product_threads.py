"""Matrix products leave a processor to the process that compiles, and take it back."""

import os
import subprocess
import sys
import textwrap

import pytest

from headrace._src.core.product_threads import product_threads

pytestmark = pytest.mark.skipif(product_threads() is None, reason="NumPy has its matrix products from elsewhere")


def check(program):
    """Run a program in a process of its own: here, something may be compiled in the background at any time."""
    start = """
        import os
        import headrace as tf
        from headrace._src.core.operating_system import processor_count
        from headrace._src.core.product_threads import lift_limit, one_processor_left, product_threads

        everything = product_threads()
        fewer = max(1, min(everything, processor_count() - 1))
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(program)], capture_output=True, text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": str(os.cpu_count() or 1)},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


def test_fewer_threads_as_long_as_someone_is_inside():
    check("""
        with one_processor_left():
            assert product_threads() == fewer
            with one_processor_left():
                assert product_threads() == fewer
            assert product_threads() == fewer
        assert product_threads() == everything
    """)


def test_all_threads_after_an_error():
    check("""
        try:
            with one_processor_left():
                raise ValueError("no")
        except ValueError:
            pass
        assert product_threads() == everything
    """)


def test_all_threads_where_there_must_be_no_limit():
    check("""
        with one_processor_left(unless=lambda: True):
            assert product_threads() == everything
        assert product_threads() == everything
    """)


@pytest.mark.parametrize("call", ["tf.random.set_seed(1)", "tf.config.experimental.enable_op_determinism()"])
def test_what_makes_runs_equal_lifts_the_limit(call):
    check(f"""
        with one_processor_left():
            {call}
            assert product_threads() == everything
        assert product_threads() == everything
        lift_limit()
        assert product_threads() == everything
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_all_threads():
    check("""
        with one_processor_left():
            child = os.fork()
            if not child:
                os._exit(0 if product_threads() == everything else 1)
            raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
