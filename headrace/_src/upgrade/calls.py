"""Calls: keywords that are called otherwise, arguments that moved or went, and functions whose meaning changed."""

import ast

from headrace._src.upgrade import rules
from headrace._src.upgrade.arguments import Arguments

_NO_ARGUMENTS = "{name} was called with *args or **kwargs: its arguments may need {what} (manual check required)."


# Arguments without which a program may mean something else.
_MATTERS = {"strict", "use_cudnn_on_gpu", "family", "bad_color", "align_corners"}


class _Call:
    """A call that is being rewritten."""

    def __init__(self, rewriter, call, symbol, rule):
        self.rewriter, self.node, self.symbol, self.rule = rewriter, call, symbol, rule
        self.arguments = Arguments(rewriter.source, rewriter.edits, call)
        self.becomes = rule.becomes
        self.removed = []
        self.added = []

    def say(self, level, text):
        self.rewriter.say(self.node, level, text)

    def tf(self, name):
        """How a name of TensorFlow is written here."""
        return self.rewriter.written(name, self.symbol) or name

    def rename(self, name, said=None):
        """Call another function, and say so in other words than that of a rename."""
        source, nodes = self.rewriter.source, self.symbol.nodes
        written = self.rewriter.written(name, self.symbol)
        if written is None:
            self.say("ERROR", f"{self.symbol.name} should become {name}, but this file has no name for TensorFlow.")
            return
        self.rewriter.used.add(name)
        self.rewriter.edits.replace(source.start(nodes[0]), source.end(nodes[-1]), written)
        self.becomes = ""
        self.say("INFO", said or f"Changed {self.symbol.name} call to {name}.")

    def remove(self, argument, name):
        self.removed.append(argument)
        level = "WARNING" if name in _MATTERS else "INFO"
        self.say(level, f"Removed argument {name} for function {self.symbol.name}")

    def text(self, argument):
        return self.rewriter.source.data[argument.value_start : argument.end].decode("utf-8")

    def replace_arguments(self, text):
        """Write all arguments anew."""
        arguments = self.arguments.all
        start = arguments[0].start if arguments else self.arguments.opening
        self.rewriter.edits.replace(start, arguments[-1].end if arguments else start, text)
        self.removed = []


def rewrite(rewriter, node, symbol, rule: rules.Rule) -> None:
    """Rewrite a call of a function that has a rule."""
    call = _Call(rewriter, node, symbol, rule)
    _warn_of_unpacking(call)
    finished = False
    if rule.call:
        name, _, argument = rule.call.partition(" ")
        finished = _REWRITERS[name](call, argument)
    if not finished:
        _keywords(call)
        _positional(call)
    call.arguments.remove(call.removed)
    for text in call.added:
        call.arguments.append(text, call.removed)
    if call.becomes:
        rewriter.rename(symbol, call.becomes)
    elif symbol.name.startswith("tf.contrib") and not rule.call:
        rewriter.contrib(symbol)


def _warn_of_unpacking(call):
    rule = call.rule
    if rule.positional and call.arguments.unpacks_positional:
        call.say("WARNING", _NO_ARGUMENTS.format(name=call.symbol.name, what="another order"))
    elif (rule.keywords or rule.call) and call.arguments.unpacks:
        call.say("WARNING", _NO_ARGUMENTS.format(name=call.symbol.name, what="other names or values"))


def _keywords(call):
    """Rename and remove keywords."""
    for argument in call.arguments.all:
        new = call.rule.keywords.get(argument.name)
        if new is None or argument in call.removed:
            continue
        if not new:
            call.remove(argument, argument.name)
            continue
        other = call.arguments.get(new)
        if other is not None and _is_none(argument.value):
            call.remove(argument, argument.name)
            continue
        if other is not None and not _is_none(other.value):
            call.say("ERROR", f"{call.symbol.name} has both {argument.name} and {new}, which are one argument now.")
            continue
        if other is not None:
            call.remove(other, new)
        call.arguments.name_it(argument, new)
        call.say("INFO", f"Renamed keyword argument for {call.symbol.name} from {argument.name} to {new}")


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _positional(call):
    """Give keywords to arguments whose place changed."""
    places = call.rule.positional
    arguments = call.arguments.positional
    if not places or call.arguments.unpacks_positional:
        return
    if len(arguments) > len(places):
        call.say("WARNING", f"{call.symbol.name} was called with {len(arguments)} positional arguments, and takes at "
                            f"most {len(places)} (manual check required).")
        return
    named = []
    for argument, place in zip(arguments, places):
        if argument in call.removed or place == rules.STAYS:
            continue
        if place == rules.DROPPED:
            call.remove(argument, f"number {arguments.index(argument) + 1}")
            continue
        call.arguments.name_it(argument, place)
        named.append(place)
    if named:
        call.say("INFO", f"Added keywords to args of function '{call.symbol.name}': {', '.join(named)}")


# Functions whose calls change in a way of their own. Each takes the call and what stands behind its name in the table,
# and returns whether nothing more is to be done with the arguments.


def _cast(call, dtype):
    name = call.arguments.get("", 1)
    if name is not None:
        call.arguments.name_it(name, "name")
    call.added.append(f"dtype={call.tf(dtype)}")
    call.rename("tf.cast", f"Changed {call.symbol.name} call to tf.cast(..., dtype={dtype}).")
    return True


def _resize(call, method):
    """A function of its own for each method of interpolation."""
    method = f"tf.image.ResizeMethod.{method}"
    corners = call.arguments.get("align_corners", 2)
    if corners is not None:
        call.say("WARNING", f"{call.symbol.name} was called with align_corners, which tf.image.resize does not have "
                            "(manual check required): its pixels are placed otherwise. For the values of 1.x use "
                            f"{call.symbol.name.replace('tf.', 'tf.compat.v1.', 1)}.")
        call.remove(corners, "align_corners")
    name = call.arguments.get("", 3)
    if name is not None:
        call.arguments.name_it(name, "name")
    call.added.append(f"method={call.tf(method)}")
    call.rename("tf.image.resize", f"Changed {call.symbol.name} call to tf.image.resize(..., method={method}).")
    half_pixel = call.arguments.get("half_pixel_centers", 4)
    if half_pixel is not None:
        call.remove(half_pixel, "half_pixel_centers")
    return True


def _dropout(call, _):
    """1.x says how much is kept, 2.x how much is dropped."""
    arguments, name = call.arguments, call.symbol.name
    rate, kept = arguments.get("rate"), arguments.get("keep_prob", 1)
    if kept is not None and _is_none(kept.value) and rate is not None:
        call.removed.append(kept)
        return True
    if kept is None:
        if rate is None or arguments.unpacks:
            call.say("ERROR", f"{name} was called without keep_prob, whose place the rate has now: it was not changed.")
        return True
    if rate is not None:
        call.say("ERROR", f"{name} was called with keep_prob and rate: it was not changed.")
        return True
    arguments.wrap(kept, "1 - (", ")")
    arguments.name_it(kept, "rate")
    for argument, later in zip(arguments.positional[2:], ("noise_shape", "seed", "name")):
        arguments.name_it(argument, later)
    call.say("INFO", f"Changing keep_prob arg of {name} to rate, and recomputing value.")
    return True


def _name_scope(call, _):
    """Only a scope with a default name and no other is what 2.x has."""
    name, default = call.arguments.get("name", 0), call.arguments.get("default_name", 1)
    if name is not None and not _is_none(name.value):
        call.say("INFO", "`name` passed to `name_scope`: 2.x makes a new scope each time, 1.x may enter it again.")
        call.becomes = "tf.compat.v1.name_scope"
    elif default is not None:
        call.replace_arguments(f"name={call.text(default)}")
        call.say("INFO", "`default_name` of `name_scope` is now its `name`.")
    elif not call.arguments.unpacks:
        call.say("ERROR", "`name_scope` has neither `name` nor `default_name`: write one of them.")
    return True


_SCALING = "tf.compat.v1.variance_scaling_initializer"


def _uniform(call, argument):
    return f'("uniform" if {call.text(argument)} else "truncated_normal")'


def _xavier(call, _):
    uniform = call.arguments.get("uniform", 0)
    rest = [f"{name}={call.text(argument)}" for name, place in (("seed", 1), ("dtype", 2))
            if (argument := call.arguments.get(name, place)) is not None]
    if call.arguments.unpacks:
        rest += [call.text(argument) for argument in call.arguments.all if argument.unpacked and argument.name is None
                 and not isinstance(argument.value, ast.Starred)]
        if call.arguments.unpacks_positional:
            return True
    distribution = '"uniform"' if uniform is None else _uniform(call, uniform)
    call.replace_arguments(", ".join(["scale=1.0", 'mode="fan_avg"', f"distribution={distribution}", *rest]))
    call.rename(_SCALING, f"Changing {call.symbol.name} to {_SCALING}, and converting arguments.")
    return True


def _variance_scaling(call, _):
    places = ("factor", "mode", "uniform", "seed", "dtype")
    values = {name: argument for k, name in enumerate(places) if (argument := call.arguments.get(name, k)) is not None}
    if call.arguments.unpacks:
        return True
    written = [f"scale={call.text(values['factor'])}" if "factor" in values else "scale=2.0"]
    if "mode" in values:
        written.append(f"mode=({call.text(values['mode'])}).lower()")
    if "uniform" in values:
        written.append(f"distribution={_uniform(call, values['uniform'])}")
    written += [f"{name}={call.text(values[name])}" for name in ("seed", "dtype") if name in values]
    call.replace_arguments(", ".join(written))
    call.rename(_SCALING, f"Changing {call.symbol.name} to {_SCALING}, and converting arguments.")
    return True


def _uniform_unit_scaling(call, _):
    if call.arguments.unpacks:
        return True
    for argument, name in zip(call.arguments.positional, ("scale", "seed", "dtype")):
        call.arguments.name_it(argument, name)
    factor = call.arguments.get("factor")
    if factor is not None:
        call.arguments.name_it(factor, "scale")
    call.added.append('distribution="uniform"')
    call.rename(_SCALING, f"Changing {call.symbol.name} to {_SCALING}, and converting arguments.")
    return True


def _regularizer(call, name):
    scale, scope = call.arguments.get("scale", 0), call.arguments.get("scope", 1)
    if call.arguments.unpacks or scale is None:
        return True
    if scale.name is not None:
        call.arguments.name_it(scale, name)
    if name == "l2":
        call.arguments.wrap(scale, "0.5 * (", ")")
        call.say("INFO", f"Multiplying scale arg of {call.symbol.name} by half: tf.keras.regularizers.l2 does not.")
    if scope is not None:
        call.removed.append(scope)
        call.say("INFO", f"Dropping scope arg from {call.symbol.name}: regularizers of Keras have none.")
    call.rename(f"tf.keras.regularizers.{name}")
    return True


# Methods that a ragged tensor has and a sparse one has not: the program is one of 2.x already.
_OF_RAGGED = {"to_sparse", "to_tensor", "to_list", "row_lengths", "bounding_shape", "nrows"}


def _split(call, _):
    """It returned a sparse tensor, and returns a ragged one."""
    result = call.arguments.get("result_type", 3)
    wanted = "SparseTensor" if result is None else getattr(result.value, "value", None)
    if wanted not in ("SparseTensor", "RaggedTensor"):
        call.becomes = "tf.compat.v1.strings.split"
        return True
    if result is not None:
        call.remove(result, f"result_type={wanted!r}")
    if wanted == "SparseTensor" and call.rewriter.methods.get(id(call.node)) not in _OF_RAGGED:
        call.rewriter.edits.after(call.rewriter.source.end(call.node), ".to_sparse()")
        call.say("INFO", "Adding .to_sparse() to the result of strings.split, which is a RaggedTensor now.")
    return False


def _labels(call, _):
    """Gradients went to the logits only, and go to the labels too."""
    labels = call.arguments.get("labels", 0)
    sentinel = call.arguments.get("_sentinel")
    if sentinel is not None:
        call.remove(sentinel, "_sentinel")
    if labels is not None and not _stops_gradients(call, labels.value):
        call.arguments.wrap(labels, f"{call.tf('tf.stop_gradient')}(", ")")
        call.say("INFO", f"Changing labels arg of {call.symbol.name} to tf.stop_gradient(labels).")
    return False


def _stops_gradients(call, value):
    """Whether a value is one of tf.stop_gradient, as it is in a source that was upgraded before."""
    symbol = call.rewriter.symbol(value.func) if isinstance(value, ast.Call) else None
    return symbol is not None and symbol.name == "tf.stop_gradient"


def _v1_with(call, arguments):
    """An argument that 2.x does not have: dropped when it says what 2.x does, otherwise the function of 1.x stays."""
    name, place, value = arguments.split()
    argument = call.arguments.get(name, int(place))
    if argument is None:
        return False
    if repr(getattr(argument.value, "value", None)) == value:
        call.remove(argument, name)
        return False
    old = call.becomes or call.symbol.name
    call.becomes = "tf.compat.v1." + call.symbol.name.removeprefix("tf.")
    call.say("INFO", f"Renaming {call.symbol.name} to {call.becomes} because argument {name} is present: "
                     f"{old} of 2.x does not take it, and behaves as if {name}={value}.")
    return True


def _add(call, text):
    """An argument without a default in 2.x."""
    if call.arguments.get(text.partition("=")[0]) is None:
        call.added.append(text)
        call.say("INFO", f"Adding argument '{text}' to call to {call.symbol.name}.")
    return False


def _glimpse(call, _):
    noise = call.arguments.get("uniform_noise", 5)
    if noise is not None and not _is_text(noise.value):
        call.arguments.wrap(noise, "'uniform' if (", ") else 'gaussian'")
        if noise.name is not None:
            call.arguments.name_it(noise, "noise")
        call.say("INFO", f"Changing uniform_noise arg of {call.symbol.name} to noise, and recomputing value.")
    return True


def _is_text(value):
    """Whether a value is a text, or one of two: that of 2.x."""
    value = value.body if isinstance(value, ast.IfExp) else value
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


_STEP = "tf.compat.v1.train.get_or_create_global_step"


def _contrib_summary(call, _):
    """Functions of 2.x want a step, and write what they are called with."""
    step = call.arguments.get("step")
    if step is None and not any(place == "step" for place in call.rule.positional[: len(call.arguments.positional)]):
        call.added.append(f"step={call.tf(_STEP)}()")
        call.say("WARNING", f"{call.symbol.name} needs a 'step' in 2.x; inserted {_STEP}().")
    return False


def _record(call, value):
    call.replace_arguments(value)
    call.say("INFO", f"Adding `{value}` to {call.symbol.name}, which becomes record_if({value}).")
    return True


_REWRITERS = {
    "cast": _cast,
    "resize": _resize,
    "dropout": _dropout,
    "name_scope": _name_scope,
    "xavier": _xavier,
    "variance_scaling": _variance_scaling,
    "uniform_unit_scaling": _uniform_unit_scaling,
    "regularizer": _regularizer,
    "split": _split,
    "labels": _labels,
    "v1_with": _v1_with,
    "add": _add,
    "glimpse": _glimpse,
    "contrib_summary": _contrib_summary,
    "record": _record,
}

# Methods: what they are called on is not known, so that only names count that nothing else has.
_ITERATORS = {"make_one_shot_iterator", "make_initializable_iterator"}
_OPTIMIZER_METHODS = {"compute_gradients", "minimize"}


def rewrite_method(rewriter, call: ast.Call) -> None:
    """Rewrite a call of a method of datasets and optimizers."""
    method = getattr(call.func, "attr", "")
    if method in _ITERATORS:
        _make_iterator(rewriter, call)
    elif method in _OPTIMIZER_METHODS:
        _without_colocation(rewriter, call)


def _make_iterator(rewriter, call):
    root = rewriter.names.root()
    if root is None:
        return
    function = f"tf.compat.v1.data.{call.func.attr}"
    arguments = Arguments(rewriter.source, rewriter.edits, call)
    dataset_end = rewriter.source.end(call.func.value)
    rest = rewriter.source.data[dataset_end : rewriter.source.end(call.func)]
    closing = rest.count(b")")  # brackets around the dataset
    rewriter.edits.before(rewriter.source.start(call.func), f"{root}{function[2:]}(")
    # The dataset, brackets included, stays where it is; `.make_...(` after it goes.
    start = dataset_end + (rest.rfind(b")") + 1 if closing else 0)
    rewriter.edits.replace(start, arguments.opening, ", " if arguments.all else "")
    rewriter.used.add(function)
    rewriter.say(call, "WARNING", f"Changing dataset.{call.func.attr}() to {function}(dataset). Please check this "
                                  "transformation: it is one only if that is a dataset.")


def _without_colocation(rewriter, call):
    arguments = Arguments(rewriter.source, rewriter.edits, call)
    found = arguments.get("colocate_gradients_with_ops")
    if found is not None:
        arguments.remove([found])
        rewriter.say(call, "INFO", "Removed argument colocate_gradients_with_ops for function "
                                   f"{call.func.attr}: gradients are always colocated.")
