"""Keys of the model's metadata that say how to run it: schema 2.0."""

from __future__ import annotations

PREFIX = "hf_"
SCHEMA = "2.0"
"""Written today. Another minor number is read as this one; another major number with a warning."""

VERSION = "hf_metadata_version"
CONFIG = "hf_model_config"
"""The model's ``config.json``; ``architectures`` names the class that was exported."""
PROCESSOR_CONFIG = "hf_processor_config"
"""Settings of the tokenizer, image processor …, by role; without vocabularies."""
TASK = "hf_pipeline_task"
"""A task of transformers' pipelines, as ``text-classification``."""
TASK_SOURCE = "hf_pipeline_task_source"
"""How the task is known: given, registry, architecture or fallback."""
GENERATION_CONFIG = "hf_generation_config"
TIMESTAMP = "hf_export_timestamp"
"""ISO 8601 in UTC; ``SOURCE_DATE_EPOCH`` sets it."""
EXPORTER = "hf_exporter"
"""A JSON object: versions of the exporter and of the libraries."""
FILE = "hf_file/"
"""``hf_file/tokenizer.json`` holds a file of the processor."""
CHECKSUMS = "hf_checksums"
"""A JSON object: key → SHA-256 of the value's text. Covers every other ``hf_`` key."""

TASK_SOURCES = ("given", "registry", "architecture", "fallback")

MAX_FILES = 64
MAX_TOTAL = 1 << 29
"""Bytes of all unpacked files."""
TYPICAL = 100_000
"""Characters that everything but the processor's files should not exceed."""
