"""Faults under load: servers, Redis and the database are killed while people talk.

`process` is a server that dies where it is told, `cluster` holds all processes of a run, `faults`
kills and restarts them by a seeded plan, `crowd` is the people, `checker` reads their own logs
and the record and decides what was broken, `history` shows how.
"""
