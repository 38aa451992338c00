"""The options of commands, which are written as TensorFlow's are: `--dir x`, `--dir=x`, `--all`, `--noall`."""

import argparse
from collections.abc import Callable
from typing import Any


class CommandOptions:
    """The options of one command."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser

    def text(self, name: str, help: str, **keywords: Any) -> None:
        """An option with a value."""
        self.parser.add_argument(f"--{name}", help=help, metavar="...", **keywords)

    def switch(self, name: str, help: str) -> None:
        """An option that is on or off."""
        self.parser.add_argument(f"--{name}", help=help, action="store_true")
        self.parser.add_argument(f"--no{name}", help=argparse.SUPPRESS, action="store_false", dest=name)


class Options:
    """The commands, each with a function that carries it out."""

    def __init__(self, parsers: Any) -> None:
        self._parsers = parsers

    def add(self, name: str, carry_out: Callable, help: str) -> CommandOptions:
        """A command."""
        parser = self._parsers.add_parser(name, help=help, description=help, allow_abbrev=False)
        parser.set_defaults(carry_out=carry_out)
        return CommandOptions(parser)
