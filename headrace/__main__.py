"""`python -m headrace`: the command line."""

from headrace._src.cli.main import main

main()
