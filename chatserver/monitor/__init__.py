"""The team's page `/monitor` and its interface `/api/monitor`: who may sign in, what they see
live, and what they may do.

`wire` is what travels; `board` the live dialogs, `socket` how they reach the page; the other
modules answer one part of the page each.
"""
