"""Who talks with whom about what.

`rules` is the pure specification; `lobby` and the Lua scripts beside it do the same in Redis,
atomically and with bounded work; `keys` names every Redis key of the project. What is decided
here is a proposal: only the record makes it true.
"""
