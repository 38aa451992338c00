"""The exceptions that ops raise.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.errors import ABORTED as ABORTED
    from headrace._src.core.errors import ALREADY_EXISTS as ALREADY_EXISTS
    from headrace._src.core.errors import AbortedError as AbortedError
    from headrace._src.core.errors import AddressError as AddressError
    from headrace._src.core.errors import AlreadyExistsError as AlreadyExistsError
    from headrace._src.core.errors import AutoGraphConversionError as AutoGraphConversionError
    from headrace._src.core.errors import CANCELLED as CANCELLED
    from headrace._src.core.errors import CancelledError as CancelledError
    from headrace._src.core.errors import CompositeConversionError as CompositeConversionError
    from headrace._src.core.errors import DATA_LOSS as DATA_LOSS
    from headrace._src.core.errors import DEADLINE_EXCEEDED as DEADLINE_EXCEEDED
    from headrace._src.core.errors import DTypeMismatchError as DTypeMismatchError
    from headrace._src.core.errors import DataLossError as DataLossError
    from headrace._src.core.errors import DeadlineExceededError as DeadlineExceededError
    from headrace._src.core.errors import FAILED_PRECONDITION as FAILED_PRECONDITION
    from headrace._src.core.errors import FailedPreconditionError as FailedPreconditionError
    from headrace._src.core.errors import GraphBuildError as GraphBuildError
    from headrace._src.core.errors import INTERNAL as INTERNAL
    from headrace._src.core.errors import INVALID_ARGUMENT as INVALID_ARGUMENT
    from headrace._src.core.errors import InaccessibleTensorError as InaccessibleTensorError
    from headrace._src.core.errors import InternalError as InternalError
    from headrace._src.core.errors import InvalidArgumentError as InvalidArgumentError
    from headrace._src.core.errors import NOT_FOUND as NOT_FOUND
    from headrace._src.core.errors import NoProfileError as NoProfileError
    from headrace._src.core.errors import NoSavedModelError as NoSavedModelError
    from headrace._src.core.errors import NotFoundError as NotFoundError
    from headrace._src.core.errors import OK as OK
    from headrace._src.core.errors import OUT_OF_RANGE as OUT_OF_RANGE
    from headrace._src.core.errors import OpError as OpError
    from headrace._src.core.errors import OperatorNotAllowedInGraphError as OperatorNotAllowedInGraphError
    from headrace._src.core.errors import OutOfRangeError as OutOfRangeError
    from headrace._src.core.errors import PERMISSION_DENIED as PERMISSION_DENIED
    from headrace._src.core.errors import PermissionDeniedError as PermissionDeniedError
    from headrace._src.core.errors import RESOURCE_EXHAUSTED as RESOURCE_EXHAUSTED
    from headrace._src.core.errors import ResourceExhaustedError as ResourceExhaustedError
    from headrace._src.core.errors import TooFewError as TooFewError
    from headrace._src.core.errors import UNAUTHENTICATED as UNAUTHENTICATED
    from headrace._src.core.errors import UNAVAILABLE as UNAVAILABLE
    from headrace._src.core.errors import UNIMPLEMENTED as UNIMPLEMENTED
    from headrace._src.core.errors import UNKNOWN as UNKNOWN
    from headrace._src.core.errors import UnauthenticatedError as UnauthenticatedError
    from headrace._src.core.errors import UnavailableError as UnavailableError
    from headrace._src.core.errors import UnimplementedError as UnimplementedError
    from headrace._src.core.errors import UnknownError as UnknownError
    from headrace._src.core.errors import UnknownOperationError as UnknownOperationError
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
