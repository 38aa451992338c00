"""`headrace collectives`: run a script, then say what its devices and processes have exchanged."""

from __future__ import annotations

import argparse
import collections
import os
import sys
from collections.abc import Callable

from headrace._src.core.lazy import LazyModule
from headrace._src.core.random_state import random_state

_processes = LazyModule("headrace._src.distribute.collectives")
_programs = LazyModule("headrace._src.graph.compiling.replicated")


def main(argv: list[str], run: Callable[[str, list[str], bool], None]) -> int:
    """Carry out the command; returns the exit code.

    Args:
        argv: its arguments.
        run: what runs a script as `headrace run` does.
    """
    parser = argparse.ArgumentParser(
        prog="headrace collectives",
        description="Run a script with a strategy, and say what devices and processes exchange in it. Functions are "
        "compiled at their first call, and random numbers have a seed.",
    )
    parser.add_argument("-m", action="store_true", dest="is_module", help="run a module, as `python -m` does")
    parser.add_argument("script", help="a file, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")
    options = parser.parse_args(argv)
    random_state.set_seed(0)
    random_state.deterministic = True
    try:
        run(options.script, options.arguments, options.is_module)
    finally:
        sys.stdout.flush()
        sys.stderr.write(report() + "\n")
    return 0


def report() -> str:
    """What was exchanged so far in this process, as text."""
    lines = _of_devices() + _of_processes()
    return "\n".join(lines) if lines else "Nothing was exchanged: no compiled program runs on several devices."


def _of_devices():
    if not sys.modules.get("headrace._src.graph.compiling.replicated"):
        return []
    lines = []
    for program in sorted(_programs.exchanges, key=lambda program: (program.place, -program.calls)):
        file, line, function = program.place
        lines.append(
            f"{function} at {os.path.basename(file)}:{line}, a program over {program.count} devices, {program.calls} "
            f"calls. In a call, each device exchanges {sum(size for _, size in program.collectives):,} bytes:"
        )
        kinds: dict = collections.defaultdict(list)
        for kind, size in program.collectives:
            kinds[kind].append(size)
        lines += [f"  {kind:<20} {len(sizes):5}  {sum(sizes):15,} bytes" for kind, sizes in kinds.items()]
    return lines


def _of_processes():
    group = None
    if sys.modules.get("headrace._src.distribute.collectives"):
        group = _processes.current_group()
    if group is None:
        return []
    lines = [f"Between {group.size} processes, this one has exchanged:"]
    for kind, (count, size) in group.exchanged.items():
        lines.append(f"  {kind:<20} {count:5}  {size:15,} bytes, {size / count:,.0f} each")
    return lines
