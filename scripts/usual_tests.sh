# Sourced by scripts/test and scripts/busy_test: how the tests are run when nothing else is said.

# One process per core: threads of matrix products on top would only wait for each other.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
usual_tests=(--numprocesses auto --dist loadgroup --durations 15 --quiet)
# The rules of rows and rows in functions, of which the slow part mostly consists; the quick part has every row eagerly.
usually_left_out=(--deselect tests/ops/test_rows.py::test_rules --deselect tests/ops/test_traced_rows.py)
