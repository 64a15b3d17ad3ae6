"""The exceptions of ONNX Autodoc.

    AutodocError(code, message, hint)       exit  HTTP
    ├─ InputError                              1   422
    │  ├─ NotAModel                            1   422   the bytes are something else (kind says what)
    │  ├─ CorruptModel                         1   422   protobuf that does not parse
    │  ├─ ExternalDataError                    1   422   bytes outside the model file cannot be had
    │  ├─ PathError                            1   404   missing, not a file, not regular
    │  ├─ OptionError                          1   422   an option's value is unknown or malformed
    │  ├─ ModelRefused                         1   422   ONNX Runtime opens no session of the model
    │  └─ LimitError(which, value, limit)      1   413   larger than we agreed to read
    ├─ AnalysisError                           2   500   a partial report may be attached
    ├─ OutputError                             3   500   the result could not be written
    ├─ ServiceError                            4   502   something outside this machine failed
    └─ RequirementError                        1   501   an extra is missing; hint is the pip line

An exception is raised only where no report can be made at all; everything else is a
``Diagnostic`` inside the report and an unknown number is ``None``.
"""

from __future__ import annotations


class AutodocError(Exception):
    """Base of every error the user sees.

    ``code`` is kebab-case and stable, ``message`` one line that names the file and the fault,
    ``hint`` the way out (may be empty).
    """

    exit_status = 1
    http_status = 500

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip() if self.hint else self.message


class InputError(AutodocError):
    """The input cannot be analysed."""

    http_status = 422


class NotAModel(InputError):
    """The file is not an ONNX model; ``kind`` names what it is (``git-lfs``, ``html`` …)."""

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(f"not-a-model-{kind}", message, hint)
        self.kind = kind


class CorruptModel(InputError):
    """The file starts like an ONNX model but its protobuf is invalid."""

    def __init__(self, message: str, hint: str = "", offset: int | None = None) -> None:
        super().__init__("corrupt-model", message, hint)
        self.offset = offset


class ExternalDataError(InputError):
    """Tensor bytes kept outside the model cannot or must not be read."""


class PathError(InputError):
    """The path is missing, not a file, or not a regular file."""

    http_status = 404


class OptionError(InputError):
    """An option has an unknown or malformed value."""


class ModelRefused(InputError):
    """ONNX Runtime refuses the model when a session is opened, before anything is computed."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("session-failed", message, hint)


class LimitError(InputError):
    """The input is larger than a limit allows; ``which`` names the field of ``Limits``."""

    http_status = 413

    def __init__(self, which: str, value: int, limit: int, message: str, hint: str = "") -> None:
        super().__init__(f"limit-{which.replace('_', '-')}", message, hint)
        self.which = which
        self.value = value
        self.limit = limit


class AnalysisError(AutodocError):
    """The analysis failed although the file could be read."""

    exit_status = 2


class OutputError(AutodocError):
    """A result could not be written."""

    exit_status = 3


class ServiceError(AutodocError):
    """A service outside this process failed."""

    exit_status = 4
    http_status = 502


class RequirementError(AutodocError):
    """An optional dependency is missing; ``hint`` is the pip command that installs it."""

    http_status = 501
