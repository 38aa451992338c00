"""The command line: `headrace run script.py`, `saved_model_cli` and what else is done without Python code."""
