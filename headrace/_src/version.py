"""The version of headrace, and the TensorFlow version whose behaviour it follows."""

VERSION = "2.21.0"
HEADRACE_VERSION = "0.1.0"
GIT_VERSION = f"v{VERSION}-headrace-{HEADRACE_VERSION}"
COMPILER_VERSION = "none: headrace is Python"
# Of the graphs that TensorFlow 2.21 writes and reads.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
