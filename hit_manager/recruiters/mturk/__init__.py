"""The recruiter for Amazon Mechanical Turk and servers that speak its API.

`recruiter` is the recruiter itself, `config` its settings, `client` the calls, `errors` what is
said against them.
`keys`, `questions`, `qualifications`, `money`, `blocking` and `messages` hold what the API wants.
"""

from hit_manager.recruiters.mturk.config import MturkConfig, Wanted
from hit_manager.recruiters.mturk.recruiter import Mturk

__all__ = ["Mturk", "MturkConfig", "Wanted"]
