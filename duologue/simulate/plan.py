"""What to simulate."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from duologue.simulate.corpus import Corpus
from duologue.simulate.mix import ALL_NORMAL, Kind, Mix
from duologue.simulate.pace import Pace


@dataclass(frozen=True, slots=True)
class Plan:
    """A crowd and how it behaves.

    The same `seed` gives the same decisions of every worker; `name` makes the crowd's workers
    new people to a study, and is drawn anew for each plan. `query` is what their links carry,
    with `{worker}` replaced by the worker's number. Workers come within `arrive_s` seconds.
    After `limit_s` seconds whoever is still there is given up. `log_folder` gets a log of each
    worker.
    """

    workers: int
    mix: Mix = ALL_NORMAL
    seed: int = 1
    pace: Pace = field(default_factory=Pace)
    corpus: Corpus = field(default_factory=Corpus.builtin)
    dialogs_per_worker: int = 1
    arrive_s: float = 2.0
    limit_s: float | None = None
    language: str = "en"
    query: Mapping[str, str] = field(default_factory=dict)
    check_answers: tuple[int, ...] = ()
    log_folder: Path | None = None
    ack_s: float = 10.0
    name: str = field(default_factory=lambda: secrets.token_hex(5))

    def kinds(self) -> list[Kind]:
        """The kind of each worker, from the seed."""
        return self.mix.kinds(self.workers, self.rng("mix"))

    def rng(self, *purpose: object) -> random.Random:
        """The random numbers for a purpose: its own stream, derived from the seed."""
        return random.Random("/".join(map(str, (self.seed, *purpose))))

    def worker_key(self, number: int) -> str:
        return f"simulated-{self.name}-{number:05d}"

    def query_of(self, number: int) -> dict[str, str]:
        worker = f"{self.name}-{number:05d}"
        return {key: value.replace("{worker}", worker) for key, value in self.query.items()}
