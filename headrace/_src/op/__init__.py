"""What an op is, the registry, and the one way to apply it."""

from headrace._src.op import apply as apply  # gives `Op` its call
