"""The version of headrace, and the TensorFlow version whose behaviour it follows."""

VERSION = "2.21.0"
HEADRACE_VERSION = "0.1.0"
