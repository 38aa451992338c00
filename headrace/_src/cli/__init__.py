"""The command line: `headrace run script.py` and what else is done with a script."""
