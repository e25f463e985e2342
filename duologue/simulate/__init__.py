"""Simulated workers over the real wire, against any server.

    summary = await simulate("http://127.0.0.1:8000", Plan(workers=20, mix=Mix.parse("normal")))

`mix` names the kinds, `behaviours` what each does, `worker`, `page` and `connection` how one
lives, `view` what its page knows, `log` what it saw; `run` is a crowd, `command` the command.
`spammers` is another thing: whole dialogs with a spammer in them, to measure the quality flags by.
"""

from duologue.simulate.corpus import BadCorpus, Corpus
from duologue.simulate.log import Entry, WorkerLog, read_log
from duologue.simulate.mix import BadMix, Kind, Mix
from duologue.simulate.pace import Pace
from duologue.simulate.plan import Plan
from duologue.simulate.run import Progress, keep_partner, simulate
from duologue.simulate.summary import Summary

__all__ = (
    "BadCorpus",
    "BadMix",
    "Corpus",
    "Entry",
    "Kind",
    "Mix",
    "Pace",
    "Plan",
    "Progress",
    "Summary",
    "WorkerLog",
    "keep_partner",
    "read_log",
    "simulate",
)
