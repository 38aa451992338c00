"""What an error says when it leaves a public function: the function's name and the argument that the user gave.

Where an op refuses something, `note` writes onto the error which op it was and which values its arguments had. Each
public function that the error passes on its way out then tells it in its own words: `Sum: input must be ...` becomes
`math.reduce_sum: input_tensor must be ...`, since the op's `input` is the value that the user gave as `input_tensor`.
All this happens on the way of an error only, and costs calls that succeed nothing: this file is loaded with the first
error.
"""

import difflib
import inspect
import re
import reprlib
import sys

from headrace._src.core import errors

# Values that many arguments may share, so that being the same object says nothing.
_SHARED = (bool, type(None))
# What follows the name of an argument where a message speaks of the argument rather than uses the word.
_SUBJECT = r"(?= must| was | is | are | has | have | and | cannot|: | \(|\[\d| = |=|, | vs)"
_LONGEST = 600  # characters of a message
_MARK = re.compile(r"\s*\[Op:(\w+)\]$")
_OP_ARGUMENTS = re.compile(r"\. Got \w+ [(\[].*\.$")
_SHOWN = re.compile(r"<[^<>]*>")  # a value that is written out, such as `<tf.Tensor: shape=(2,), dtype=int64>`
_PREFIX = re.compile(r"(?:cannot compute )?([A-Za-z_][\w.]*): ")


def note(error, op, values):
    """Remember on the error what the arguments of the op were: pairs of name and value. The innermost op's stay."""
    if not hasattr(error, "_account"):
        # Of the values only the identity is kept, so that the error holds none of them and can be pickled.
        error._account = {
            "op": op.name,
            "values": [(name, id(value)) for name, value in values if not isinstance(value, _SHARED)],
        }


class _Refusal(Exception):
    """What a public function raises for a bad argument, where that is Python's TypeError or ValueError.

    TF: which of the two it is depends on the line that trips first: one that converts the value, or one that asks for
    its length. So it is one that both `except` clauses catch. Its name is the one that it would have in any case.
    """

    def __reduce__(self):
        return _rebuilt, (_REFUSALS.index(type(self)), self.args, self.__dict__)


class _TypeError(_Refusal, TypeError, ValueError):
    """A value of a wrong type."""


class _SlipError(_Refusal, TypeError, ValueError, AttributeError):
    """A value of a wrong type, in which Python looked for an attribute."""


class _ValueError(_Refusal, ValueError, TypeError):
    """A value that cannot be used."""


_REFUSALS = (_TypeError, _SlipError, _ValueError)
for _class in _REFUSALS:
    _class.__name__ = _class.__qualname__ = _class.__bases__[1].__name__
    _class.__module__ = "builtins"  # as tracebacks show it


def _rebuilt(number, args, state):
    error = _REFUSALS[number](*args)
    error.__dict__.update(state)
    return error


def _refusal(error):
    """The error, as one that is both a TypeError and a ValueError if it is one of them."""
    kind = type(error)
    if kind is IndexError and _text_of(error) in ("tuple index out of range", "list index out of range"):
        refusal = errors.TooFewError(None, None, f"an argument has too few dimensions or elements ({error})")
    elif kind is ValueError:
        refusal = _ValueError(*error.args)
    elif kind is TypeError or _is_slip(error):
        refusal = (_SlipError if isinstance(error, AttributeError) else _TypeError)(*error.args)
    else:
        return error
    refusal.__dict__.update(error.__dict__)
    refusal.__cause__ = error.__cause__
    refusal.__suppress_context__ = True
    return refusal.with_traceback(error.__traceback__)


def _is_slip(error):
    """Whether NumPy, or Python in the midst of headrace, tripped over the type of a value."""
    if isinstance(error, AttributeError):
        return "has no attribute" in str(error)
    return isinstance(error, TypeError) and type(error).__module__.startswith("numpy")


def tell(error, function, signature, args, kwargs):
    """The error to raise: it speaks of a public function and its arguments. The user's own errors stay as they are."""
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # a wrong number of arguments, or of another name: Python's own message says so
        _suggest(error, signature, kwargs)
        return error
    return told(error, _called_as(function), given)


def _suggest(error, signature, kwargs):
    """Say which argument a misspelt one may be, and where none is like it, which there are."""
    text = _text_of(error)
    wrong = re.search(r"got an unexpected keyword argument '(\w+)'", text or "")
    if wrong is None or wrong[1] not in kwargs or wrong[1] in signature.parameters:
        return
    names = [name for name in signature.parameters if name not in kwargs]
    near = difflib.get_close_matches(wrong[1], names, n=1, cutoff=0.5)
    # Python's own text has no full stop, and comes from 3.13 on with a suggestion.
    if "Did you mean" not in text:
        advice = f"Did you mean {near[0]!r}?" if near else f"Its other arguments are {', '.join(names)}."
        set_text(error, f"{text}. {advice}")


def told(error, name, given):
    """The same, where the function's name and the arguments that the user gave are at hand."""
    text = _text_of(error)
    if text is None or not _is_ours(error):
        return error
    error = _refusal(error)
    text = _text_of(error)
    given = {key: value for key, value in given.items() if key not in ("self", "cls")}
    account = error.__dict__.setdefault("_account", {"op": None, "values": []})
    if "text" not in account:
        account["text"], account["mark"] = _core(text, account, name)
    renamed, subject = _in_words_of(given, account)
    inner = account.setdefault("function", name)
    if not subject and _last(inner) != _last(name):
        renamed = f"{inner}: {account['text']}"
    text = f"{name}: {_with_arguments(renamed, given, subject, error)}{account['mark']}"
    set_text(error, text)
    return error


def _text_of(error):
    """The message, if the error has one; the arguments of NumPy's errors are none."""
    if isinstance(error, errors.OpError):
        return error.message
    if type(error).__module__.startswith("numpy") or isinstance(error, _Refusal):
        return str(error)
    return error.args[0] if error.args and isinstance(error.args[0], str) else None


def _called_as(function):
    """The public name by which the user's code calls the function, as far as that can be seen: aliases may differ."""
    name = getattr(function, "_public_name", function.__name__)
    others = [other for other in getattr(function, "_public_names", ()) if _last(other) != _last(name)]
    if others:
        frame = sys._getframe(1)
        while frame is not None and (frame.f_globals.get("__name__") or "").startswith("headrace."):
            frame = frame.f_back
        used = () if frame is None else frame.f_code.co_names
        if _last(name) not in used:
            return next((other for other in others if _last(other) in used), name)
    return name


def _last(name):
    return name.rpartition(".")[2]


def _core(text, account, name):
    """The message without the names before it, the op's mark after it, and what the op said of its own arguments."""
    mark = _MARK.search(text)
    if mark:
        text = _OP_ARGUMENTS.sub("", text[: mark.start()])
    prefix = _PREFIX.match(text)
    if prefix:
        if prefix[1] in (account["op"], mark and mark[1], _last(name)):
            text = text[prefix.end() :]
        elif "_" in prefix[1] or "." in prefix[1]:
            account["function"] = prefix[1]
            text = text[prefix.end() :]
    if len(text) > _LONGEST:  # a value that is written out
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"
    return text, f" {mark[0].strip()}" if mark else ""


def _in_words_of(given, account):
    """The text with the user's names of arguments, and whether it says which argument it speaks of."""
    text, values = account["text"], account["values"]
    names, words = {}, {}
    for inner, identity in values:
        same = [name for name, value in given.items() if id(value) == identity]
        if len(same) == 1:
            names[inner] = words[inner] = same[0]
    for inner, _ in values:
        if inner not in names and inner in names.values():  # another value than the user's argument of that name
            words[inner] = f"{account['op']}'s {inner}"
    if words:
        choice = "|".join(map(re.escape, words))
        text = re.sub(rf"(?<![\w.'\"])({choice}){_SUBJECT}", lambda match: words[match[1]], text)
    spoken = [name for name in given if _speaks_of(text, name)]
    # An argument of an inner function that has the name of one of the user's is taken for that.
    foreign = {inner for inner in names if names[inner] != inner}
    known = set(given) - foreign | set(names.values())
    subject = [name for name in spoken if name in known and re.match(rf"`?{re.escape(name)}\b", text)]
    others = [words.get(inner, inner) for inner, _ in values if inner not in names and inner not in given]
    others += [word for inner, word in words.items() if inner not in names]
    if any(_speaks_of(text, inner) for inner in others):
        return text, False  # it also speaks of something that the user did not give
    return text, bool(subject) or len(spoken) > 1 or (len(spoken) == 1 and len(given) == 1)


def _speaks_of(text, name, subject=_SUBJECT):
    return re.search(rf"(?<![\w.]){re.escape(name)}{subject}", _SHOWN.sub("", text)) is not None


def _with_arguments(text, given, subject, error):
    """The text, followed by the arguments that it does not speak of: all, or the plain ones where it says enough."""
    shown = {name: value for name, value in given.items() if name != "name"}
    try:
        if subject:
            depends = _depends_on_others(error, text)
            shown = {name: value for name, value in shown.items() if depends and _is_plain(value)}
        values = ", ".join(
            f"{name}={brief(value)}" for name, value in shown.items()
            if not _speaks_of(text, name, _SUBJECT if subject else "=")
        )
    except Exception:  # an argument that cannot be shown; the first error is the one to raise
        return text
    return f"{text.rstrip('. ')}. Got {values}." if values else text


def _depends_on_others(error, text):
    """Whether what is wrong with one argument depends on another: an axis on the rank, an index on the size.

    A value that cannot be used at all, or a dtype that the function does not take, is wrong by itself.
    """
    if isinstance(error, errors.DTypeMismatchError):
        return "was expected to be" in text
    return isinstance(error, (errors.OpError, IndexError, _ValueError)) and not isinstance(error, _TypeError)


def _is_plain(value):
    """Whether it is a tensor, or may have become one or said how to make one."""
    return hasattr(value, "shape") or isinstance(value, (int, float, complex, str, bytes, list, tuple))


def _is_ours(error):
    """Whether headrace raised it for what it was given, and not a function of the user's that it called."""
    outside = False
    traceback = error.__traceback__
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "") or ""
        root = module.partition(".")[0]
        if module.startswith("headrace."):
            if outside:
                return False  # a function of the user's called headrace again
        elif root not in _LIBRARIES:
            outside = True
        traceback = traceback.tb_next
    return not outside


_LIBRARIES = frozenset(sys.stdlib_module_names - {"__main__"}) | {"numpy", "ml_dtypes", "scipy", "google"}


def set_text(error, text) -> None:
    """Let an error say something else."""
    error.args = (text, *error.args[1:])
    if isinstance(error, errors.OpError):
        error._message = text


def brief(value, levels: int = 3) -> str:
    """A value as messages show it: tensors by shape and dtype, anything else shortened."""
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        return f"<{type(value).__name__} {shape} {getattr(value.dtype, 'name', value.dtype)}>"
    if isinstance(value, (list, tuple)):
        parts = [brief(item, levels - 1) for item in value[:6]] if levels else ["..."]
        inner = ", ".join(parts) + (", ..." if levels and len(value) > 6 else "")
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__name__
    return reprlib.repr(value)
