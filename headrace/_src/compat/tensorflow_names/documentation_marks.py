"""`tensorflow.tools.docs.doc_controls`: marks by which programs that write documents leave things out."""

from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")


def _mark(attribute: str) -> Callable[[Thing], Thing]:
    def decorate(obj: Thing) -> Thing:
        setattr(obj, attribute, None)
        return obj

    return decorate


set_deprecated = _mark("_tf_docs_deprecated")
do_not_generate_docs = _mark("_tf_docs_do_not_document")
do_not_doc_inheritable = _mark("_tf_docs_do_not_doc_inheritable")
for_subclass_implementers = _mark("_tf_docs_for_subclass_implementers")
doc_private = _mark("_tf_docs_doc_private")
doc_in_current_and_subclasses = _mark("_tf_docs_doc_in_current_and_subclasses")


def inheritable_header(text: str) -> Callable[[Thing], Thing]:
    """Decorator: documents of a class and of those made of it begin with this text."""

    def decorate(cls: Thing) -> Thing:
        cls._tf_docs_inheritable_header = text  # type: ignore[attr-defined]
        return cls

    return decorate


def get_inheritable_header(obj: object) -> str | None:
    """The text that `inheritable_header` has set."""
    return getattr(obj, "_tf_docs_inheritable_header", None)
