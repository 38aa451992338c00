"""OpenBLAS computes in the thread that calls it as long as an operation is inside, and has its threads afterwards."""

import os
import subprocess
import sys
import textwrap

import pytest

from headrace._src.core.product_threads import product_threads

pytestmark = pytest.mark.skipif(product_threads() is None, reason="NumPy has its matrix products from elsewhere")


def check(program):
    """Run a program in a process of its own, in which nothing else computes, and OpenBLAS has two threads."""
    start = """
        import os
        import numpy as np
        import headrace as tf
        from headrace._src.core.product_threads import on_one_thread, one_thread, one_thread_of_scipy, product_threads

        assert product_threads() == 2
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(program)], capture_output=True, text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


def test_one_thread_as_long_as_someone_is_inside():
    check("""
        with one_thread:
            assert product_threads() == 1
            with one_thread:
                assert product_threads() == 1
            assert product_threads() == 1
        assert product_threads() == 2
        try:
            with one_thread:
                raise ValueError("no")
        except ValueError:
            assert product_threads() == 2
    """)


def test_what_a_program_sets_meanwhile_stays():
    check("""
        get, put = one_thread.functions
        with one_thread:
            put(2)
        assert product_threads() == 2
        put(1)
        with one_thread:
            pass
        assert product_threads() == 1
    """)


def test_kernels_of_large_matrices_run_on_one_thread():
    check("""
        seen = []
        kernel = on_one_thread(one_thread)(lambda x: seen.append(product_threads()))
        kernel(np.zeros((100, 100)))
        kernel(np.zeros((2, 2)))  # OpenBLAS takes no more for these
        assert seen == [1, 2] and product_threads() == 2
        get, _ = one_thread_of_scipy.functions
        kernel = on_one_thread(one_thread, one_thread_of_scipy)(lambda x: seen.append((product_threads(), get())))
        kernel(np.zeros((100, 100)))
        assert seen[-1] == (1, 1) and (product_threads(), get()) == (2, 2)
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_all_threads():
    check("""
        with one_thread:
            child = os.fork()
            if not child:
                os._exit(0 if product_threads() == 2 else 1)
            raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
