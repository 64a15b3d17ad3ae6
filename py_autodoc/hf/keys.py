"""Metadata keys that describe how to run a model: schema 2.0."""

from __future__ import annotations

PREFIX = "hf_"
SCHEMA = "2.0"
"""Version written today. Other minor versions are read like this one, other major versions with a warning."""

VERSION = "hf_metadata_version"
CONFIG = "hf_model_config"
"""The model's ``config.json``; ``architectures`` names the exported class."""
PROCESSOR_CONFIG = "hf_processor_config"
"""Settings of the tokenizer, image processor, …, by role, without vocabularies."""
TASK = "hf_pipeline_task"
"""A task of transformers' pipelines, such as ``text-classification``."""
TASK_SOURCE = "hf_pipeline_task_source"
"""Source of the task: given, registry, architecture or fallback."""
GENERATION_CONFIG = "hf_generation_config"
TIMESTAMP = "hf_export_timestamp"
"""ISO 8601 in UTC; ``SOURCE_DATE_EPOCH`` overrides it."""
EXPORTER = "hf_exporter"
"""JSON object with versions of the exporter and of the libraries."""
FILE = "hf_file/"
"""Prefix of a file of the processor: ``hf_file/tokenizer.json``."""
CHECKSUMS = "hf_checksums"
"""JSON object: key → SHA-256 of the value's text. Covers every other ``hf_`` key."""

TASK_SOURCES = ("given", "registry", "architecture", "fallback")

MAX_FILES = 64
MAX_TOTAL = 1 << 29
"""Maximum bytes of all unpacked files."""
TYPICAL = 100_000
"""Characters that all other entries together normally do not exceed."""
