"""People from Prolific, by its public API v1 (https://docs.prolific.com/api-reference).

`config` is what a team sets, `client` how requests are made and errors told, `study` how a posting
becomes a study over there, `bonuses` the two steps of a payment, `hooks` what Prolific tells us by
itself, and `recruiter` the recruiter.
"""

from hit_manager.recruiters.prolific.bonuses import BonusStep
from hit_manager.recruiters.prolific.config import Codes, ProlificConfig
from hit_manager.recruiters.prolific.hooks import Look, LookAt, read_hook
from hit_manager.recruiters.prolific.recruiter import Prolific

__all__ = [
    "BonusStep",
    "Codes",
    "Look",
    "LookAt",
    "Prolific",
    "ProlificConfig",
    "read_hook",
]
