"""`tf.compat.v1.flags` and `app`: absl's command-line flags with the argument names and the late parsing of 1.x."""

import sys

from headrace._src.core.lazy import absl_app, absl_flags


class _Flags:
    """absl's flags, parsed from the command line when one is first read."""

    def __init__(self):
        object.__setattr__(self, "_wrapped", absl_flags.FLAGS)

    def __getattribute__(self, name):
        if name in ("__dict__", "__class__"):
            return getattr(object.__getattribute__(self, "_wrapped"), name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        flags = object.__getattribute__(self, "_wrapped")
        # TF: programs may read flags without `app.run`; what is not defined is left to others.
        if not name.startswith("_") and not flags.is_parsed() and name in flags:
            flags(sys.argv, known_only=True)
        return getattr(flags, name)

    def __setattr__(self, name, value):
        setattr(object.__getattribute__(self, "_wrapped"), name, value)

    def __delattr__(self, name):
        delattr(object.__getattribute__(self, "_wrapped"), name)

    def __dir__(self):
        return dir(object.__getattribute__(self, "_wrapped"))

    def __getitem__(self, name):
        return object.__getattribute__(self, "_wrapped")[name]

    def __setitem__(self, name, flag):
        object.__getattribute__(self, "_wrapped")[name] = flag

    def __contains__(self, name):
        return name in object.__getattribute__(self, "_wrapped")

    def __iter__(self):
        return iter(object.__getattribute__(self, "_wrapped"))

    def __len__(self):
        return len(object.__getattribute__(self, "_wrapped"))

    def __call__(self, *args, **kwargs):
        return object.__getattribute__(self, "_wrapped")(*args, **kwargs)


# TF: what 1.x called the arguments of the functions that define flags.
_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _defining(name):
    def define(*args, **kwargs):
        absl_flags.disclaim_key_flags()  # whoever calls this defines the flag
        return getattr(absl_flags, name)(*args, **{_RENAMED.get(key, key): value for key, value in kwargs.items()})

    define.__name__ = name
    return define


_DEFINING = ("DEFINE_string", "DEFINE_integer", "DEFINE_float", "DEFINE_boolean", "DEFINE_bool")
_made: dict = {}


def flags_attribute(name):
    """An attribute of `tf.compat.v1.flags`.

    Raises:
        AttributeError: absl's flags have none of that name.
    """
    if name not in _made:
        if name == "FLAGS":
            _made[name] = _Flags()
        else:
            _made[name] = _defining(name) if name in _DEFINING else getattr(absl_flags, name)
    return _made[name]


def run(main=None, argv=None):
    """Parse the command line and call `main` with what is no flag; the process then exits with what it returns.

    Args:
        main: a function of the remaining arguments; `main` of the program when left out.
        argv: the command line; `sys.argv` when left out.
    """
    absl_app.run(
        main or sys.modules["__main__"].main, argv, flags_parser=lambda args: absl_flags.FLAGS(args, known_only=True)
    )
