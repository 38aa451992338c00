"""Functions with control flow, each with arguments to call it with: see `test_control_flow.py`."""
