"""What is measured, one file a question; `python -m benchmarks` runs them (`make bench`).

`load.py` is the load generator, `relays/` the servers to compare with, `servers.py` starts
everything under test in its own process, `processes.py` reads what a process has used.
"""
