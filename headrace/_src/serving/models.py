"""Which versions of which models are loaded: folders are watched, new versions take over, old ones are freed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from headrace._src.core import errors
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.serving.request_log import LoggingSettings
from headrace._src.serving.servables import Servable

logger = logging.getLogger("headrace.serving")

START, LOADING, AVAILABLE, UNLOADING, END = "START", "LOADING", "AVAILABLE", "UNLOADING", "END"
_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")


@api("serving.VersionPolicy", dispatch=False)
@dataclass(frozen=True)
class VersionPolicy:
    """Which versions of a model are served.

    Attributes:
        kind: "latest", "all" or "specific".
        count: of the latest ones.
        versions: the specific ones.
    """

    kind: str = "latest"
    count: int = 1
    versions: tuple[int, ...] = ()

    def wanted(self, there: Iterable[int]) -> list[int]:
        """Of the versions that are there, those to serve, the newest first."""
        newest_first = sorted(there, reverse=True)
        if self.kind == "latest":
            return newest_first[: self.count]
        return [version for version in newest_first if self.kind == "all" or version in self.versions]


@api("serving.ModelSettings", dispatch=False)
@dataclass(frozen=True)
class ModelSettings:
    """A model to serve: its name, the folder of its versions, which of them, names for some, and what is logged."""

    name: str
    base_path: str
    policy: VersionPolicy = VersionPolicy()
    labels: dict[str, int] = field(default_factory=dict)
    logging: LoggingSettings | None = None


@dataclass
class VersionStatus:
    """What is known of a version."""

    version: int
    state: str = START
    code: int = 0
    message: str = ""
    attempts: int = 0
    tried_at: float = 0.0


class _Model:
    def __init__(self, settings):
        self.settings = settings
        self.statuses: dict[int, VersionStatus] = {}
        self.available: dict[int, Servable] = {}  # replaced, never changed, so that requests need no lock


class Models:
    """The models of a server.

    Args:
        settings: of each model.
        load: from name, version and folder to a servable that is ready.
        poll_seconds: how often folders are looked at; 0 for once, and negative for never after the first time.
        retries: how often a version that cannot be loaded is tried again.
        retry_seconds: after how long.
        labels_may_wait: whether a label may name a version that is not available (yet).
    """

    def __init__(
        self, settings: Iterable[ModelSettings], load: Callable[[str, int, str], Servable], poll_seconds: float = 1.0,
        retries: int = 5, retry_seconds: float = 60.0, labels_may_wait: bool = False,
    ):  # fmt: skip
        self._load = load
        self._poll_seconds = poll_seconds
        self._retries = retries
        self._retry_seconds = retry_seconds
        self._labels_may_wait = labels_may_wait
        self._lock = threading.Lock()  # of what follows: one change at a time
        self._models: dict[str, _Model] = {}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._set(settings)

    def _set(self, settings):
        models = {}
        for one in settings:
            if one.name in models:
                raise errors.invalid_argument(f"There are two models of the name {one.name!r}.")
            known = self._models.get(one.name)
            if known is not None and known.settings.base_path == one.base_path:
                known.settings = one
                models[one.name] = known
            else:
                models[one.name] = _Model(one)
        self._models = models

    def start(self) -> None:
        """Load what is there, and go on watching."""
        self.look()
        for model in self._models.values():
            if not model.statuses:
                logger.warning("%s", _why_empty(model.settings))
        if self._poll_seconds > 0:
            self._thread = threading.Thread(target=self._watch, name="serving-versions", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Watch no more; what is loaded is freed when nobody uses it."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self):
        while not self._ended.wait(self._poll_seconds):
            try:
                self.look()
            except Exception:  # a folder that cannot be read must not end the watching
                logger.exception("Looking for versions failed; the next attempt is in %s s.", self._poll_seconds)

    def reload(self, settings: Iterable[ModelSettings]) -> None:
        """Serve these models from now on.

        Raises:
            InvalidArgumentError: two have one name.
        """
        with self._lock:
            self._set(settings)
        self.look()

    def look(self) -> None:
        """Load the versions that are wanted, and then free those that are not."""
        with self._lock:
            for model in list(self._models.values()):
                self._look_at(model)

    def _look_at(self, model):
        there = versions_in(model.settings.base_path)
        wanted = model.settings.policy.wanted(there)
        for version in wanted:
            if version not in model.available and self._is_due(model, version):
                self._add(model, version, there[version])
        kept = {version for version in model.available if version in wanted}
        if kept or not wanted:  # a wanted version that cannot be loaded does not push out the one before it
            for version in sorted(model.available.keys() - kept):
                self._free(model, version)

    def _is_due(self, model, version):
        status = model.statuses.get(version)
        if status is None or status.state != END:
            return True
        if not status.message:  # it was freed, and is wanted again
            return True
        waited = time.monotonic() - status.tried_at
        return status.attempts <= self._retries and waited >= min(
            self._retry_seconds, self._poll_seconds * 2**status.attempts
        )

    def _add(self, model, version, path):
        name = model.settings.name
        status = model.statuses.setdefault(version, VersionStatus(version))
        status.state, status.tried_at = LOADING, time.monotonic()
        status.attempts += 1
        begun = time.perf_counter()
        try:
            servable = self._load(name, version, path)
        except Exception as error:
            status.state = END
            status.code = getattr(error, "error_code", errors.UNKNOWN) or errors.UNKNOWN
            status.message = f"{type(error).__name__}: {error}"
            logger.error("Version %d of the model %s cannot be loaded from %s: %s", version, name, path, error)
            return
        model.available = {**model.available, version: servable}
        status.state, status.code, status.message, status.attempts = AVAILABLE, 0, "", 0
        logger.info("Version %d of the model %s is available after %.2f s.", version, name, time.perf_counter() - begun)

    def _free(self, model, version):
        status = model.statuses[version]
        status.state = UNLOADING
        model.available = {known: servable for known, servable in model.available.items() if known != version}
        status.state = END
        logger.info("Version %d of the model %s is no longer served.", version, model.settings.name)

    # Questions.

    @property
    def names(self) -> list[str]:
        """Of all models."""
        return sorted(self._models)

    def settings(self, name: str) -> ModelSettings | None:
        """How a model is served; None for one that is not."""
        model = self._models.get(name)
        return None if model is None else model.settings

    def versions(self, name: str) -> dict[int, Servable]:
        """The versions of a model that are available."""
        model = self._models.get(name)
        return {} if model is None else model.available

    @property
    def are_ready(self) -> bool:
        """Whether each model has a version."""
        return all(model.available for model in self._models.values())

    def find(self, name: str, version: int | None = None, label: str | None = None) -> Servable:
        """The servable for a request.

        Raises:
            NotFoundError, InvalidArgumentError: there is none.
        """
        if not name:
            raise errors.invalid_argument("ModelSpec has no name specified.")
        model = self._models.get(name)
        if label:
            version = self._version_of(model, name, label)
        available = {} if model is None else model.available
        found = available.get(version) if version is not None else available.get(max(available, default=None))
        if found is None:
            wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
            raise errors.not_found(f"Servable not found for request: {wanted}")
        return found

    def _version_of(self, model, name, label):
        labels = {} if model is None else model.settings.labels
        if label not in labels:
            raise errors.invalid_argument(f"Unrecognized servable version label: {label}")
        version = labels[label]
        if version not in model.available and not self._labels_may_wait:
            raise errors.failed_precondition(
                f"The label {label!r} of the model {name} names version {version}, which is not available."
            )
        return version

    def status(self, name: str, version: int | None = None, label: str | None = None) -> list[VersionStatus]:
        """What is known of a version, or of all versions, the newest first.

        Raises:
            NotFoundError: nothing is.
        """
        model = self._models.get(name)
        if label:
            version = self._version_of(model, name, label)
        statuses = {} if model is None else model.statuses
        if version is not None:
            if version not in statuses:
                raise errors.not_found(f"Could not find version {version} of model {name}")
            return [statuses[version]]
        if not statuses:
            raise errors.not_found(f"Could not find any versions of model {name}")
        return [statuses[number] for number in sorted(statuses, reverse=True)]


def _why_empty(settings):
    """Why a model has no versions."""
    path = settings.base_path
    parent, _, name = path.rstrip("/").rpartition("/")
    if any(files.exists(files.join(path, file)) for file in _MODEL_FILES):
        if name.isdecimal():
            why = f"that is a SavedModel itself: give the folder that it is in, {parent or '/'}"
        else:
            why = f"that is a SavedModel itself, which has to be in a folder with a number: move it to {parent}/NAME/1 "
            why += f"and give {parent}/NAME"
    elif files.exists(path) and not files.is_directory(path):
        why = "that is a file, not a folder of SavedModels"
        if name.endswith((".keras", ".h5")):
            why += '. keras.models.load_model(path).export("folder/1") makes one of a file of Keras'
    elif files.exists(path):
        why = "it holds no folder with a number and a SavedModel"
    else:
        why = "there is no such folder"
    return f"The model {settings.name} has no versions in {path}: {why}. Requests for it fail until there is one."


def versions_in(base_path: str) -> dict[int, str]:
    """The versions in a folder: those of its folders whose names are numbers and that hold a model."""
    found = {}
    names = files.names_in(base_path) if files.is_directory(base_path) else []
    for name in (name.rstrip("/") for name in names):
        path = files.join(base_path, name)
        if name.isdecimal() and any(files.exists(files.join(path, file)) for file in _MODEL_FILES):
            found[int(name)] = path
    return found
