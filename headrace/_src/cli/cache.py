"""`headrace cache`: the compiled programs that are kept from run to run."""

import sys

from headrace._src.graph.compiling import program_store


def _say(line):
    sys.stdout.write(line + "\n")


def _counted(programs):
    return "1 program" if programs == 1 else f"{programs} programs"


def cache(action: str) -> int:
    """Print what is kept, or remove it; returns the exit code.

    Args:
        action: "show" or "clear".
    """
    found = program_store.contents()
    if found is None:
        _say(
            f"No programs are kept: {program_store.VARIABLE} says so, or this system has no folder for them, or does "
            f"not say which instructions its processor has. {program_store.VARIABLE} can name a folder of your own."
        )
        return 0
    if action == "clear":
        count = program_store.clear()
        _say(f"{found.folder}: removed {count} of {_counted(found.programs)}")
        return 0 if count == found.programs else 1
    most = f"at most {program_store.limit() / 1e6:.0f} ({program_store.SIZE_VARIABLE})"
    _say(f"{found.folder}: {_counted(found.programs)}, {found.size / 1e6:.1f} MB of {most}")
    if found.foreign:
        _say(f"{found.foreign} of them belong to other users, and are not used.")
    if found.problem:
        _say(f"It is not used: {found.problem}.")
    return 0
