"""What workers see: joining, the list of HITs, a HIT and its frame, submitting, earnings.

`views` are the pages that need a signed-in worker, `joining` leads there, `submit` takes the
answer out of a frame without knowing who sends it; `task` says how a frame may be shown.
"""

from hit_manager.marketplace.pages.routes import add_pages

__all__ = ["add_pages"]
