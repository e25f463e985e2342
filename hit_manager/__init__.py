"""Recruiting, relaunching, reviewing and paying. It meets the live server only in the record.

`recruiters` are where workers come from; `marketplace` is a server of our own that speaks the
requester API of Mechanical Turk; `reconciler` posts what is wanted and expires what is not;
`outbox` pays what is owed, once.
"""
