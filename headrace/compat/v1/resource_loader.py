"""The public names of `tf.compat.v1.resource_loader`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.resource_loader import get_data_files_path as get_data_files_path
    from headrace._src.compat.resource_loader import get_path_to_datafile as get_path_to_datafile
    from headrace._src.compat.resource_loader import get_root_dir_with_all_resources as get_root_dir_with_all_resources
    from headrace._src.compat.resource_loader import load_resource as load_resource
    from headrace._src.compat.resource_loader import readahead_file_path as readahead_file_path
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
