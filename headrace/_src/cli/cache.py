"""`headrace cache`: the compiled programs that are kept from run to run."""

from headrace._src.graph.compiling import program_store


def cache(action: str) -> int:
    """Print what is kept, or remove it; returns the exit code.

    Args:
        action: "show" or "clear".
    """
    found = program_store.contents()
    if found is None:
        print(f"No programs are kept: set {program_store.VARIABLE} to a folder of your own.")
        return 0
    if action == "clear":
        count = program_store.clear()
        print(f"{found.folder}: removed {count} of {found.programs} programs")
        return 0 if count == found.programs else 1
    size, most = found.size / 1e6, program_store.limit() / 1e6
    print(f"{found.folder}: {found.programs} programs, {size:.1f} MB of at most {most:.0f} ({program_store.SIZE_VARIABLE})")
    if found.foreign:
        print(f"{found.foreign} of them belong to other users, and are not used.")
    return 0
