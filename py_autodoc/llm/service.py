"""A service of whole requests: how many users a replica serves at once, from prompt to end of answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PROMPT, ANSWER = 1024, 256
"""Tokens of a request where none are given."""


@dataclass(frozen=True, slots=True)
class Goals:
    """A request of ``prompt`` and ``answer`` tokens, and what a user may expect; None: no goal."""

    prompt: int
    answer: int
    first_token_s: float | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """A replica with ``users`` requests at once, each followed by the next one.

    In ``round_s`` every user gets one answer: the prompts one after another, and the decode steps between
    them, which all users share.
    """

    users: int
    round_s: float
    prompt_s: float
    """Time that a prompt occupies the replica."""
    first_token_s: float
    first_token_worst_s: float
    tokens_per_s_per_user: float
    goals: Goals

    @property
    def requests_per_s(self) -> float:
        """Requests per second of the replica."""
        return self.users / self.round_s

    @property
    def tokens_per_s(self) -> float:
        """Tokens of answers per second of the replica, over whole requests."""
        return self.users * self.goals.answer / self.round_s

    @property
    def prompt_share(self) -> float:
        """Share of the time that is spent on prompts."""
        return self.users * self.prompt_s / self.round_s


def request_seconds(prefill: float, decode: float, answer: int) -> float:
    """Return the seconds of a request: the prompt gives the first token, decode steps the others."""
    return prefill + (answer - 1) * decode


def load_of(users: int, prefill: float, decode: float, stages: int, goals: Goals) -> Load:
    """Return a replica under load; ``decode`` is a step of all users at the middle of their answers.

    A pipeline works on the prompts of other users meanwhile. A prompt waits for half a step and, as in a
    queue with fixed service times (M/D/1), for the prompts of others; at worst for those of all.
    """
    prompt_s = prefill * (users + stages - 1) / (users * stages)
    steps = goals.answer - 1
    round_s = users * prompt_s + steps * decode
    busy, others = users * prompt_s / round_s, (users - 1) * prompt_s
    waiting = others if busy >= 1 else min(others, busy * prompt_s / (2 * (1 - busy)))
    answering = steps * decode + others
    return Load(
        users=users,
        round_s=round_s,
        prompt_s=prompt_s,
        first_token_s=prefill + decode / 2 + waiting,
        first_token_worst_s=prefill + decode + others,
        tokens_per_s_per_user=steps / answering if steps else 1 / round_s,
        goals=goals,
    )


def missed(load: Load) -> str:
    """Return the goal that a load misses; empty if it meets all."""
    goals = load.goals
    if goals.first_token_s is not None and load.first_token_s > goals.first_token_s:
        return "first_token"
    if goals.tokens_per_s is not None and load.tokens_per_s_per_user < goals.tokens_per_s:
        return "tokens_per_s"
    return ""


def most_users(load: Callable[[int], Load], most: int) -> int:
    """Return the largest number of users up to ``most`` that meets the goals; 0 if one user misses them.

    Every further user lengthens the wait and the steps.
    """
    if most < 1 or missed(load(1)):
        return 0
    if not missed(load(most)):
        return most
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if missed(load(middle)) else (middle, high)
    return low
