"""What the options --inputs, --input_exprs and --input_examples of `run` say, as values by the keys of a signature."""

import logging
import re
from typing import Any

from headrace._src.cli.saved_model.array_files import read_array
from headrace._src.cli.saved_model.expressions import NotAllowedError, value_of
from headrace._src.cli.saved_model.models import CommandError
from headrace._src.core.lazy import LazyModule

_examples = LazyModule("headrace._src.formats.example_messages")
logger = logging.getLogger("headrace")

_FILE = re.compile(r"([^=]+)=([^\[\]]+)\[([^\[\]]+)\]")
_PLAIN_FILE = re.compile(r"([^=]+)=([^\[\]]+)")
_ALLOWED = (
    "Allowed are literals, arithmetic, and functions that make arrays, such as np.ones((2, 3)), np.random.rand(4) or "
    "np.arange(6).reshape(2, 3).astype(np.float32). For anything else, save an array with np.save, and pass it with "
    "--inputs."
)


def values_of(files: str, expressions: str, examples: str) -> dict[str, Any]:
    """The values of all three options; later ones replace earlier ones.

    Raises:
        CommandError: an option cannot be understood.
    """
    values: dict[str, Any] = {}
    options = {
        "--inputs": _from_files(files),
        "--input_exprs": _from_expressions("--input_exprs", expressions),
        "--input_examples": _from_examples(examples),
    }
    given_by: dict[str, str] = {}
    for option, found in options.items():
        for key, value in found.items():
            if key in given_by:
                logger.warning(
                    "input_key %s has been specified with both %s and %s options. Value in %s will be used.",
                    key, given_by[key], option, option,
                )  # fmt: skip
            values[key], given_by[key] = value, option
    return values


def _from_files(text):
    values = {}
    for part in filter(None, text.split(";")):
        match = _FILE.fullmatch(part) or _PLAIN_FILE.fullmatch(part)
        if match is None:
            raise CommandError(
                f'--inputs "{part}" format is incorrect. Please follow "<input_key>=<filename>", or '
                '"<input_key>=<filename>[<variable_name>]"'
            )
        key, path, name = (*match.groups(), None)[:3]
        value, warning = read_array(path.strip(), name)
        if warning is not None:
            logger.warning("%s", warning)
        values[key.strip()] = value
    return values


def _from_expressions(option, text):
    values = {}
    for part in _parts(text):
        key, separator, expression = part.partition("=")
        if not separator:
            raise CommandError(
                f'{option} "{part}" format is incorrect. Please follow "<input_key>=<python expression>"'
            )
        try:
            values[key.strip()] = value_of(expression)
        except NotAllowedError as error:
            raise CommandError(
                f'Expression "{expression}" is not a valid python literal: {error}. {_ALLOWED}'
            ) from None
    return values


def _parts(text):
    """What is between semicolons, but for those in strings and brackets."""
    parts, begin, quote, depth, skip = [], 0, "", 0, False
    for i, c in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = c == "\\"
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == ";" and depth <= 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [part for part in [*parts, text[begin:]] if part.strip()]


def _from_examples(text):
    """Lists of dictionaries of features, as lists of encoded `tf.train.Example` messages."""
    values = _from_expressions("--input_examples", text)
    for key, rows in values.items():
        if not isinstance(rows, list):
            raise CommandError(f'tf.Example input must be a list of dictionaries, but "{rows}" is {type(rows)}')
        values[key] = [_example(row) for row in rows]
    return values


def _example(features):
    if not isinstance(features, dict):
        raise CommandError(f'tf.Example input must be a list of dictionaries, but "{features}" is {type(features)}')
    message = _examples.Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise CommandError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        _fill(message.features.feature[name], name, values)
    return message.SerializeToString()


def _fill(feature, name, values):
    if not values:
        return  # a feature without a kind is one without values
    first = values[0]
    try:
        if isinstance(first, (str, bytes)):
            encoded = [value.encode() if isinstance(value, str) else value for value in values]
            feature.bytes_list.value.extend(encoded)
        elif any(isinstance(value, float) for value in values):
            feature.float_list.value.extend(values)
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise CommandError(f"Type {type(first)} for value {first} is not supported for tf.train.Feature.")
    except (TypeError, ValueError) as error:
        raise CommandError(f"feature {name}: {values} cannot be put into a tf.train.Feature: {error}") from None
