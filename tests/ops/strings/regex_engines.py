"""What each engine makes of a regular expression, in a form that can be compared."""

from headrace._src.ops.strings.regular_expressions import Regex, RegexSyntaxError, Rewrite


class _Never:
    """Costs that no text can have."""

    longest_match = longest_search = -1

    @staticmethod
    def allows_match(text):
        return False

    allows_search = allows_guarded_search = allows_match


class _Counting:
    """The usual costs, and how often they let `re` work."""

    def __init__(self, costs, counts):
        self._costs = costs
        self._counts = counts

    def __getattr__(self, name):
        return getattr(self._costs, name)

    def allows_match(self, text):
        allowed = self._costs.allows_match(text)
        self._counts["re" if allowed else "machine"] += 1
        return allowed

    def allows_search(self, text):
        allowed = self._costs.allows_search(text)
        self._counts["re"] += allowed
        return allowed

    def allows_guarded_search(self, text):
        allowed = self._costs.allows_guarded_search(text)
        self._counts["re, guarded" if allowed else "machine"] += 1
        return allowed


def _forms(regex):
    return [regex.of_characters, regex.of_bytes]


def machine_only(pattern: bytes) -> Regex:
    """A pattern that never uses `re`."""
    regex = Regex(pattern)
    for form in _forms(regex):
        form.costs = form.search_costs = _Never
    return regex


def counted(pattern: bytes, counts) -> Regex:
    """A pattern as users get it, which counts the engines that it uses."""
    regex = Regex(pattern)
    for form in _forms(regex):
        form.costs, form.search_costs = _Counting(form.costs, counts), _Counting(form.search_costs, counts)
    return regex


def outcome(make, pattern: bytes, texts: list, rewrite: bytes):
    """For each text: whether it matches, all matches replaced, the first one replaced; or why there is no pattern."""
    try:
        regex = make(pattern)
    except RegexSyntaxError as error:
        return str(error)
    new = Rewrite(rewrite)
    matches, first, everywhere = regex.matcher(), regex.replacer(new, False), regex.replacer(new, True)
    found = [(matches(text), everywhere(text), first(text)) for text in texts]
    # What is made for many strings does the same.
    assert found == [
        (regex.matches(text), regex.replace(text, new, True), regex.replace(text, new, False)) for text in texts
    ]
    return found
