"""Jobs by id and by content. Finished jobs are removed, least recently used first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial

from py_autodoc.jobs.errors import UnknownJob
from py_autodoc.jobs.job_record import DONE, JobRecord
from py_autodoc.jobs.memory_budget import Kept


class JobStore:
    """Jobs with limits on their number and age; a ``MemoryBudget`` limits their size.

    Args:
        max_records: maximum number of finished jobs.
        idle_s: seconds without use after which a finished job is removed.
        on_remove: called with each job that was removed.
    """

    def __init__(self, max_records: int, idle_s: float, on_remove: Callable[[JobRecord], None]) -> None:
        self._max_records = max_records
        self._idle_s = idle_s
        self._on_remove = on_remove
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
        """Add a new job. It replaces an earlier job with the same key."""
        record.used_at = now
        self._by_id[record.id] = record
        self._by_key[record.key] = record

    def get(self, job_id: str, now: float) -> JobRecord:
        """Return the job. Raises: UnknownJob."""
        record = self._by_id.get(job_id)
        if record is None:
            raise UnknownJob
        self._touch(record, now)
        return record

    def find(self, key: tuple[object, ...], now: float) -> JobRecord | None:
        """Return the latest job with this key; None if it failed or was cancelled, or if there is none."""
        record = self._by_key.get(key)
        if record is None or (record.ended and record.state != DONE):
            return None
        self._touch(record, now)
        return record

    @property
    def bytes(self) -> int:
        """Bytes of all jobs, those that are waiting or running included."""
        return sum(record.bytes for record in self._by_id.values())

    def kept(self) -> Iterator[Kept]:
        """Yield the finished jobs that are not in use."""
        for record in self._by_id.values():
            if record.ended and not record.active_requests:
                yield Kept(record.used_at, record.bytes, partial(self._remove, record))

    def trim(self, now: float) -> None:
        """Remove jobs beyond the limits. Jobs that are running or in use are kept."""
        finished = [record for record in self._by_id.values() if record.ended]
        count = len(finished)
        for record in finished:
            stale = now - record.used_at > self._idle_s
            excess = record is not finished[-1] and count > self._max_records
            if (stale or excess) and not record.active_requests:
                self._remove(record)
                count -= 1

    def _touch(self, record: JobRecord, now: float) -> None:
        record.used_at = now
        self._by_id.move_to_end(record.id)

    def _remove(self, record: JobRecord) -> None:
        del self._by_id[record.id]
        if self._by_key.get(record.key) is record:
            del self._by_key[record.key]
        self._on_remove(record)
