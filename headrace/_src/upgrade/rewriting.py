"""One source from 1.x to 2.x: which names and calls it has, which rules apply, and what the report says."""

import ast
import difflib
import itertools
import re
from typing import NamedTuple

from headrace._src.upgrade import calls, imports, keras_layers, rules
from headrace._src.upgrade.edits import Edits
from headrace._src.upgrade.names import ROOT, Imported, Names, in_order
from headrace._src.upgrade.source import Source, SourceError, parsed

INFO, WARNING, ERROR = "INFO", "WARNING", "ERROR"


class Options(NamedTuple):
    """What the user asked for."""

    safety: bool = False  # leave the code, and import tensorflow.compat.v1
    upgrade_compat_v1_import: bool = True
    keras: bool = False  # layers of tf.layers become layers of Keras where that is safe
    graph_mode: bool = False  # turn 2.x behaviour off where a session is used


class Message(NamedTuple):
    """A line of the report. Lines count from 1, columns (bytes, as Python's own) from 0."""

    line: int
    column: int
    level: str
    text: str


class Change(NamedTuple):
    """A line that is another one now."""

    line: int
    old: str
    new: str
    marks: str  # `~` below what changed in the old line


class Symbol(NamedTuple):
    """A chain of names in the source that means something of TensorFlow's."""

    name: str  # as rules have it: tf.nn.relu
    parts: list[str]
    nodes: list[ast.expr]  # the node of each part that stands in the source, the last ones
    imported: Imported | None  # None: `tf` that nobody imported

    @property
    def start_of_name(self) -> ast.expr:
        """The name that the chain begins with."""
        return self.nodes[0]


class Upgraded(NamedTuple):
    """What became of a source."""

    data: bytes
    messages: list[Message]
    changes: list[Change]


class Rewriter:
    """Walks a source once, and collects edits and messages."""

    def __init__(self, source: Source, options: Options):
        self.source = source
        self.options = options
        self.edits = Edits()
        self.messages: list[Message] = []
        self.nodes = list(in_order(source.tree))
        self.names = Names(self.nodes)
        self.symbols = rules.symbols()
        # Calls on whose result a method is called at once, and which.
        self.methods = {id(node.value): node.attr for node in self.nodes
                        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call)}
        self.from_v1: set[ast.stmt] = set()  # imports whose names must come from tensorflow.compat.v1
        self.used: set[str] = set()  # new names that the result has
        self._done: set[int] = set()

    def run(self) -> None:
        """Collect all."""
        for node in self.nodes:
            if id(node) in self._done:
                continue
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, (ast.Attribute, ast.Name)):
                symbol = self.symbol(node)
                if symbol is not None:
                    self.leave(node)
                    self._name(symbol)
        imports.rewrite(self)

    def say(self, node: ast.AST, level: str, text: str) -> None:
        """Add a line to the report."""
        self.messages.append(Message(node.lineno, node.col_offset, level, text))

    def note(self, node: ast.AST, key: str, name: str) -> None:
        """Say what `notes.tsv` has under a key."""
        level, text = rules.notes()[key]
        self.say(node, level, text.format(name=name))

    def leave(self, node: ast.AST) -> None:
        """Say that a chain of names is dealt with."""
        while isinstance(node, ast.Attribute):
            self._done.add(id(node))
            node = node.value
        self._done.add(id(node))

    def symbol(self, node: ast.AST) -> Symbol | None:
        """What a chain of names means; None if it is nothing of TensorFlow's, or not to be changed."""
        chain = [node]
        while isinstance(chain[-1], ast.Attribute):
            chain.append(chain[-1].value)
        chain.reverse()
        first = chain[0]
        if not isinstance(first, ast.Name):
            return None
        imported = self.names.imported(first)
        if imported is None:
            if not self.names.is_assumed(first):
                return None
            path = ROOT
        else:
            if not self._is_ours(imported, first.id):
                return None
            path = imported.path
        parts = [*path.split("."), *(link.attr for link in chain[1:])]
        if parts[1:2] == ["compat"]:
            return None  # says itself which API it means
        return Symbol(".".join(parts), parts, chain, imported) if self._is_where_it_says(chain) else None

    def _is_ours(self, imported, name):
        """Whether names taken from this import are upgraded: not those of 2.x, and of compat.v1 only `tf` itself."""
        if imported.api == "v1":
            return imported.path == ROOT and name == ROOT and self.options.upgrade_compat_v1_import and isinstance(
                imported.statement, ast.Import)
        return not imported.api

    def _is_where_it_says(self, chain):
        """Whether the source has these names there. Before Python 3.12 places in long f-strings are wrong."""
        text = self.source.data[self.source.start(chain[0]) : self.source.end(chain[-1])]
        if text == ".".join(map(_word, chain)).encode("utf-8"):
            return True
        said = rb"[\s\\()]*\.[\s\\()]*".join(re.escape(_word(link).encode()) for link in chain)
        if re.fullmatch(said, text) or b"#" in text:
            return True
        self.say(chain[0], WARNING, f"{'.'.join(map(_word, chain))} stands in a string that this Python cannot place: "
                                    "look at it yourself, or run the tool with Python 3.12 or newer.")
        return False

    # Names.

    def _name(self, symbol):
        rule, count = self.rule_of(symbol)
        if self.options.safety:
            rule = None
        if rule is None:
            self._without_rule(symbol)
            return
        name = ".".join(symbol.parts[:count])
        if rule.note:
            self.note(symbol.start_of_name, rule.note, name)
        if self._comes_from_v1(symbol, rule):
            return
        if rule.becomes:
            self.rename(symbol, rule.becomes, count)
        elif name.startswith("tf.contrib"):
            self.contrib(symbol)

    def rule_of(self, symbol: Symbol) -> tuple[rules.Rule | None, int]:
        """The rule for the longest part of a chain that has one, and how many names that part has."""
        for count in range(len(symbol.parts), 1, -1):
            rule = self.symbols.get(".".join(symbol.parts[:count]))
            if rule is not None:
                return rule, count
        return None, 0

    def _without_rule(self, symbol):
        if symbol.parts[1:2] == ["contrib"]:
            self.contrib(symbol)

    def contrib(self, symbol: Symbol) -> None:
        """Say what to use instead of a name in `tf.contrib`."""
        self.say(symbol.start_of_name, ERROR,
                 f"Using member {symbol.name} of tf.contrib, which TensorFlow 2 does not have. It cannot be converted "
                 f"automatically. Use instead: {rules.contrib_advice(symbol.name)}.")

    def _comes_from_v1(self, symbol, rule):
        """Whether the name was imported by itself: then the import changes, and the name stays."""
        imported = symbol.imported
        if imported is None or not isinstance(imported.statement, ast.ImportFrom) or imported.path == ROOT:
            return False
        if imported.path.startswith("tf.contrib"):
            return False
        if rule.changes:
            self.from_v1.add(imported.statement)
        return True

    def rename(self, symbol: Symbol, becomes: str, count: int | None = None) -> bool:
        """Give a chain (or its first `count` names) another name. Returns whether that was possible."""
        count = len(symbol.parts) if count is None else count
        old = ".".join(symbol.parts[:count])
        last = len(symbol.parts) - len(symbol.nodes)  # names that an import stands for
        if count <= last:
            return False
        written = self.written(becomes, symbol)
        if written is None:
            self.contrib(symbol)
            return False
        self.used.add(becomes)
        self.edits.replace(self.source.start(symbol.nodes[0]), self.source.end(symbol.nodes[count - 1 - last]), written)
        self.say(symbol.start_of_name, INFO, f"Renamed '{old}' to '{becomes}'")
        return True

    def written(self, name: str, symbol: Symbol) -> str | None:
        """How a name of rules is written in this source; None if nothing in it means TensorFlow."""
        if symbol.imported is None or symbol.imported.path == ROOT:
            return symbol.nodes[0].id + name[len(ROOT) :]
        root = self.names.root()
        return None if root is None else root + name[len(ROOT) :]

    # Calls.

    def _is_of_tensorflow(self, node):
        """Whether a chain of names begins with TensorFlow, whichever API it means."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and (self.names.imported(node) is not None or self.names.is_assumed(node))

    def _call(self, call):
        if not isinstance(call.func, (ast.Attribute, ast.Name)):
            return
        symbol = self.symbol(call.func)
        if symbol is None:
            if not self.options.safety and not self._is_of_tensorflow(call.func):
                calls.rewrite_method(self, call)
            return
        self.leave(call.func)
        rule = self.symbols.get(symbol.name)
        if rule is None or self.options.safety:
            self._name(symbol)
            return
        if rule.note:
            self.note(call, rule.note, symbol.name)
        if self._comes_from_v1(symbol, rule):
            return
        calls.rewrite(self, call, symbol, rule)


def _word(link):
    return link.id if isinstance(link, ast.Name) else link.attr


def upgrade(original: bytes, options: Options = Options()) -> Upgraded:
    """The source of a program for 1.x as one for 2.x.

    >>> upgrade(b"import tensorflow as tf\\nx = tf.placeholder(tf.float32)\\n").data
    b'import tensorflow as tf\\nx = tf.compat.v1.placeholder(tf.float32)\\n'

    Raises:
        SourceError: it is not Python 3, or the result would not be.
    """
    source = Source(original)
    if not any(word in source.data for word in (b"tensorflow", b"tf.", b"make_")):
        return Upgraded(original, [], [])
    old = source.data.decode("utf-8")
    before: list[Message] = []
    if options.keras and not options.safety:
        source, before = _with_keras_layers(source, options)
    rewriter = Rewriter(source, options)
    rewriter.run()
    messages = sorted([*before, *rewriter.messages], key=lambda message: message[:2])
    data = rewriter.edits.applied(source.data)
    result = source.restored(data)
    if result == original:
        return Upgraded(original, messages, [])
    try:
        parsed(data.decode("utf-8"))
    except SourceError as error:
        raise SourceError(f"the result would not parse ({error}); please report this") from None
    return Upgraded(result, messages, line_changes(old, data.decode("utf-8")))


def _with_keras_layers(source, options):
    """The source after `--keras`: one call after the other, because what one moves may hold another."""
    messages = []
    while True:
        rewriter = Rewriter(source, options)
        if not keras_layers.rewrite(rewriter):
            return source, messages
        messages += rewriter.messages
        source = Source(source.restored(rewriter.edits.applied(source.data)))


def line_changes(old: str, new: str) -> list[Change]:
    """Which lines of a text became others."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) == len(after):
        return [_change(k, a, b) for k, (a, b) in enumerate(zip(before, after), 1) if a != b]
    changes = []
    for kind, first, last, new_first, new_last in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if kind != "equal":
            pairs = itertools.zip_longest(before[first:last], after[new_first:new_last], fillvalue="")
            changes += [_change(first + k, a, b) for k, (a, b) in enumerate(pairs, 1)]
    return changes


def _change(line, old, new):
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    return Change(line, old, new, " " * start + "~" * max(1, len(old) - start - end))


def _common(a, b):
    """How many characters two texts have in common at their beginnings."""
    return next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
