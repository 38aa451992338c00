"""Arguments that were renamed: 1.x functions take both names, but not at once."""


def renamed(function, new_name, new, old_name, old):
    """The argument that was given under its new or its old name.

    Raises:
        ValueError: both were given.
    """
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"{function}: cannot specify both '{old_name}' and '{new_name}'.")
    return old


def required(function, name, value):
    """A value that must be given, under whichever name."""
    if value is None:
        raise ValueError(f"{function}: {name} must be specified.")
    return value
