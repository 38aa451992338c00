"""Where the files of this package are, to tell them from the user's."""

import os

IMPLEMENTATION = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # .../headrace/_src/
PACKAGE = os.path.dirname(os.path.dirname(IMPLEMENTATION)) + os.sep  # .../headrace/
PARENT = os.path.dirname(os.path.dirname(PACKAGE))  # what `import headrace` needs on the path
