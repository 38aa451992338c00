"""Matching and replacing in strings by regular expressions, in RE2's syntax."""

import numpy as np

from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.strings.kernel_arrays import (
    attribute_bytes,
    attribute_text,
    map_strings,
    map_values,
    scalar_string,
)
from headrace._src.ops.strings.regular_expressions import Rewrite, compile_regex


def _full_match(op, input, pattern):
    return map_values(compile_regex(op, pattern).matcher(), input, np.bool_)


REGEX_FULL_MATCH = Op(
    "RegexFullMatch",
    "input: string, pattern: string -> output: bool",
    infer=same_as_input,
    kernel=lambda input, pattern: _full_match(
        "RegexFullMatch", input, scalar_string("RegexFullMatch", "pattern", pattern)
    ),
    lower=None,  # strings exist on the host only
    grad=None,
)

STATIC_REGEX_FULL_MATCH = Op(
    "StaticRegexFullMatch",
    "input: string, *, pattern: string -> output: bool",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input, pattern: _full_match("StaticRegexFullMatch", input, attribute_bytes(pattern)),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.regex_full_match", elementwise=1)
def regex_full_match(input, pattern, name=None) -> Tensor:
    """Whether each whole string matches a regular expression.

    >>> tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$").numpy().tolist()
    [True, False]

    Args:
        input: strings.
        pattern: in the syntax of RE2: no lookaround, no backreferences.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when the pattern is no regular expression.
    """
    if isinstance(pattern, (str, bytes)):
        return STATIC_REGEX_FULL_MATCH(input, pattern=attribute_text(pattern), name=name)
    return REGEX_FULL_MATCH(input, pattern, name=name)


def _replace(op, input, pattern, rewrite, everywhere):
    return map_strings(compile_regex(op, pattern).replacer(Rewrite(rewrite), everywhere), input)


REGEX_REPLACE = Op(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string, *, replace_global: bool = True -> output: string",
    infer=same_as_input,
    kernel=lambda input, pattern, rewrite, replace_global: _replace(
        "RegexReplace",
        input,
        scalar_string("RegexReplace", "pattern", pattern),
        scalar_string("RegexReplace", "rewrite", rewrite),
        replace_global,
    ),
    lower=None,  # strings exist on the host only
    grad=None,
)

STATIC_REGEX_REPLACE = Op(
    "StaticRegexReplace",
    "input: string, *, pattern: string, rewrite: string, replace_global: bool = True -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input, pattern, rewrite, replace_global: _replace(
        "StaticRegexReplace", input, attribute_bytes(pattern), attribute_bytes(rewrite), replace_global
    ),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.regex_replace", elementwise=1)
def regex_replace(input, pattern, rewrite, replace_global=True, name=None) -> Tensor:
    """Replace what matches a regular expression.

    >>> tf.strings.regex_replace("Text with tags.<br />", "<[^>]+>", " ").numpy()
    b'Text with tags. '

    Args:
        input: strings.
        pattern: in the syntax of RE2: no lookaround, no backreferences.
        rewrite: what replaces a match; `\\1` to `\\9` stand for the groups, `\\0` for the whole match.
        replace_global: replace all matches, not only the first.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when the pattern is no regular expression.
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return STATIC_REGEX_REPLACE(
            input,
            pattern=attribute_text(pattern),
            rewrite=attribute_text(rewrite),
            replace_global=replace_global,
            name=name,
        )
    return REGEX_REPLACE(input, pattern, rewrite, replace_global=replace_global, name=name)
