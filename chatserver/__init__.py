"""The live server: HTTP and socket.io edge, tokens, the live service, deadlines, health.

`wire` is the contract with the page. `app` and `sockets` are the edge; `live/` holds what
happens behind it. Settings come in as `config.ServerConfig`; nothing here reads the environment.
"""
