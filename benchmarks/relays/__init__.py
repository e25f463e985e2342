"""Bare relays with the wire form of the chat server and no storage: what Duologue is beside."""
