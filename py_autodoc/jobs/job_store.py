"""Jobs by id and by content; finished ones are dropped, least recently used first."""

from __future__ import annotations

from collections import OrderedDict

from py_autodoc.jobs.errors import UnknownJob
from py_autodoc.jobs.job_record import DONE, JobRecord


class JobStore:
    """Bounded memory of jobs.

    Units: ``max_bytes`` counts the bytes of encoded bodies; the newest finished job stays even when
    it alone is larger, or nobody could ever read it.
    """

    def __init__(self, max_bytes: int, max_records: int, idle_s: float) -> None:
        self._max_bytes = max_bytes
        self._max_records = max_records
        self._idle_s = idle_s
        self._by_id: OrderedDict[str, JobRecord] = OrderedDict()
        """Least recently used first."""
        self._by_key: dict[tuple[object, ...], JobRecord] = {}

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._by_id

    @property
    def records(self) -> list[JobRecord]:
        """All jobs, least recently used first."""
        return list(self._by_id.values())

    def add(self, record: JobRecord, now: float) -> None:
        """Remembers a new job; it is the one found for its key from now on."""
        record.used_at = now
        self._by_id[record.id] = record
        self._by_key[record.key] = record

    def get(self, job_id: str, now: float) -> JobRecord:
        """The job. Raises ``UnknownJob``."""
        record = self._by_id.get(job_id)
        if record is None:
            raise UnknownJob
        self._touch(record, now)
        return record

    def find(self, key: tuple[object, ...], now: float) -> JobRecord | None:
        """The latest job for this content and these options, unless it failed or was cancelled."""
        record = self._by_key.get(key)
        if record is None or (record.over and record.state != DONE):
            return None
        self._touch(record, now)
        return record

    def trim(self, now: float) -> list[JobRecord]:
        """Drops what is too much or too old and returns it. Jobs that are not over, or in use, stay."""
        dropped: list[JobRecord] = []
        finished = [record for record in self._by_id.values() if record.over]
        count = len(finished)
        size = sum(record.bytes for record in finished)
        for record in finished:
            stale = now - record.used_at > self._idle_s
            too_much = record is not finished[-1] and (size > self._max_bytes or count > self._max_records)
            if (stale or too_much) and not record.asking:
                self._drop(record)
                dropped.append(record)
                count -= 1
                size -= record.bytes
        return dropped

    def _touch(self, record: JobRecord, now: float) -> None:
        record.used_at = now
        self._by_id.move_to_end(record.id)

    def _drop(self, record: JobRecord) -> None:
        del self._by_id[record.id]
        if self._by_key.get(record.key) is record:
            del self._by_key[record.key]
