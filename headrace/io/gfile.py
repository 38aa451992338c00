"""The public names of `tf.io.gfile`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.state.gfile import GFile as GFile
    from headrace._src.state.gfile import copy as copy
    from headrace._src.state.gfile import exists as exists
    from headrace._src.state.gfile import get_registered_schemes as get_registered_schemes
    from headrace._src.state.gfile import glob as glob
    from headrace._src.state.gfile import isdir as isdir
    from headrace._src.state.gfile import join as join
    from headrace._src.state.gfile import listdir as listdir
    from headrace._src.state.gfile import makedirs as makedirs
    from headrace._src.state.gfile import mkdir as mkdir
    from headrace._src.state.gfile import remove as remove
    from headrace._src.state.gfile import rename as rename
    from headrace._src.state.gfile import rmtree as rmtree
    from headrace._src.state.gfile import stat as stat
    from headrace._src.state.gfile import walk as walk
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
