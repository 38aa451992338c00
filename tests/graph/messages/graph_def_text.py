"""GraphDef messages from short text."""

from google.protobuf import text_format

from headrace._src.formats.graph_messages import GraphDef

PLACEHOLDER = 'node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } '
FLOAT, INT = "type: DT_FLOAT", "type: DT_INT32"


def parse(text):
    """The message that a text describes."""
    return text_format.Parse(text, GraphDef())


def node(name, op, *inputs, **attrs):
    """The text of a node."""
    given = "".join(f' input: "{x}"' for x in inputs)
    kinds = "".join(f' attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attrs.items())
    return f'node {{ name: "{name}" op: "{op}"{given}{kinds} }} '


def nodes_of(graph_def):
    """The nodes by name."""
    return {node.name: node for node in graph_def.node}
