"""The public names of `tf.compat.v1.gfile`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.gfile import Copy as Copy
    from headrace._src.compat.gfile import DeleteRecursively as DeleteRecursively
    from headrace._src.compat.gfile import Exists as Exists
    from headrace._src.compat.gfile import Glob as Glob
    from headrace._src.compat.gfile import IsDirectory as IsDirectory
    from headrace._src.compat.gfile import ListDirectory as ListDirectory
    from headrace._src.compat.gfile import MakeDirs as MakeDirs
    from headrace._src.compat.gfile import MkDir as MkDir
    from headrace._src.compat.gfile import Remove as Remove
    from headrace._src.compat.gfile import Rename as Rename
    from headrace._src.compat.gfile import Stat as Stat
    from headrace._src.compat.gfile import Walk as Walk
    from headrace._src.state.gfile import FastGFile as FastGFile
    from headrace._src.state.gfile import GFile as GFile
    from headrace._src.state.gfile import GFile as _Open
    Open = _Open
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
