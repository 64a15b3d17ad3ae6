"""Text for the logs of CI runners: nothing that a model says is a command to one.

Runners read commands from the output of a job: GitHub takes a line that begins with ``::``, even after
blanks, and ``##[`` anywhere; Azure Pipelines ``##vso[`` and TeamCity ``##teamcity[`` anywhere; Buildkite,
Travis and GitLab begin a group with a line of their own. A blank in the middle of such a word makes it plain
text. The other means, control characters, are removed by ``terminal_text``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

_VARIABLES = (
    "CI", "GITHUB_ACTIONS", "GITEA_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI", "JENKINS_URL",
    "BUILDKITE", "TRAVIS", "APPVEYOR", "CIRCLECI", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID", "DRONE",
)  # fmt: skip
_OFF = frozenset({"", "0", "false", "no", "off"})
_MARKER = re.compile(r"(##\w{0,32})(?=\[)")
_COMMAND = re.compile(r"((?:^|(?<=[\n\r]))[^\S\n\r]*:)(?=:)")
_GROUP = re.compile(r"(?:^|(?<=[\n\r]))(?=---|\+\+\+|~~~|\^\^\^|travis_|section_)")
_COLONS = re.compile(r":(?=:)")
_KEPT = 64
"""Characters of an unfinished line that a command may have begun in."""


def in_ci() -> bool:
    """Return whether the process runs in a CI runner, as its environment says."""
    return any(os.environ.get(name, "").strip().lower() not in _OFF for name in _VARIABLES)


def break_markers(text: str) -> str:
    """Break ``##[``, ``##vso[``, ``##teamcity[`` wherever they are."""
    return _MARKER.sub(r"\1 ", text) if "##" in text else text


def break_colons(text: str) -> str:
    """Break ``::`` wherever it is."""
    return _COLONS.sub(": ", text)


def inert_document(text: str) -> str:
    """Return a document without lines that are commands; all else is unchanged."""
    return _COMMAND.sub(r"\1 ", break_markers(text)) if "::" in text else break_markers(text)


def inert(text: str) -> str:
    """Return lines for people without commands; in a CI runner without any ``::``."""
    text = _GROUP.sub(" ", break_markers(text))
    if "::" not in text:
        return text
    return break_colons(text) if in_ci() else _COMMAND.sub(r"\1 ", text)


def inert_json(text: str) -> str:
    """Escape ``##`` and ``::`` in JSON text, which is the same value. Names are only inside its strings."""
    return text.replace("::", ":\\u003a").replace("##", "#\\u0023")


class LogFilter:
    """Makes text inert that arrives in pieces: a command may be split between two of them."""

    def __init__(self, rule: Callable[[str], str] = inert) -> None:
        self._rule = rule
        self._line = ""

    def __call__(self, piece: str) -> str:
        """Return the next piece."""
        line = self._line
        text = self._rule(line + piece)
        if not text.startswith(
            line
        ):  # what was written cannot change, but the rest can be moved away from it
            text = f"{line} {self._rule(piece)}"
        self._line = _unfinished(text)
        return text[len(line) :]


def _unfinished(text: str) -> str:
    """Return the unfinished line, or a shorter one with the same prospects."""
    line = text[max(text.rfind("\n"), text.rfind("\r")) + 1 :]
    words = line.lstrip()
    if len(words) > _KEPT:
        return "." + words[-_KEPT:]
    return line if len(line) == len(words) else f" {words}"
