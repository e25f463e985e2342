from sqlalchemy import Connection


def due(connection: Connection, now: float) -> bool:
    return False


def settle(connection: Connection, now: float) -> None:
    pass
