"""What requesters' programs talk to: the requester API of Mechanical Turk, version 2017-01-17.

`app` takes a request through `sigv4` (who signed it), `aws_json` (what it says) and `validation`
against `shapes` (whether it has the right form); `operations` says which function answers it,
in one of `operations_*`.
"""

from hit_manager.marketplace.api.app import add_routes

__all__ = ["add_routes"]
