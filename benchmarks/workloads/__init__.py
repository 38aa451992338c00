"""What benchmarks/all.py times: each workload once as a function of the `tf` module, and its twin in PyTorch.

A file for each kind of model; `table.py` lists all rows with their goals. Models start from the same numbers in all
libraries (`weights.py`), so that `all.py --check` can compare their losses.
"""
