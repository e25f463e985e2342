"""Tests by what they touch: unit (nothing), property (invariants), store (databases and Redis),
web (the server in one process), contract (others' formats and protocols), e2e (a browser), chaos
(everything, while it is killed). `services` starts the real servers, `browser` the real browser.
"""
