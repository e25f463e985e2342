"""A server as `duologue serve` puts it together carries out what the team wants, links too."""

from __future__ import annotations

from pathlib import Path

from chatserver.config import ServerConfig
from chatserver.monitor.acting import Able, Acting
from chatserver.monitor.wire import BonusWish
from dialogs.record import payments
from dialogs.record.rounds import last_round
from dialogs.rules import LedgerState, Release
from duologue.preparation import put_study
from duologue.serve import Site, running
from duologue.settings import Settings
from duologue.study import read_study
from tests.live import SECRET, eventually
from tests.records import opened
from tests.recruiting import add_arrival, release
from tests.web.test_acting import Ada

STUDY_FILE = """
[study]
id = "study"
title = "Talk about a picture"
[items]
file = "items.jsonl"
"""


async def test_a_bonus_is_approved_at_once_where_nothing_is_posted(
    sqlite_url: str, redis_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY_FILE)
    (tmp_path / "static").mkdir()
    settings = Settings(database_url=sqlite_url, redis_url=redis_url, secret_key=SECRET * 2, port=0)
    site = Site(tmp_path, read_study(file), settings)
    config = ServerConfig(
        site.study.to_config(), SECRET, pictures=tmp_path, static=tmp_path / "static", port=0
    )
    async with opened(sqlite_url, serving=False) as record:
        await put_study(record, site.study)
        with record.engine.begin() as connection:
            add_arrival(connection, 0, recruiter="link")
            release(connection, "arrival-0", 0, how=Release.LEFT)
            connection.exec_driver_sql(
                "INSERT INTO admins (id, name, role, password, created_at) "
                "VALUES ('admin-1', 'Ada', 'owner', 'x', 1.0)"
            )
    # What is not asked for at once would be found in ten minutes.
    async with running(site, redis_url, config=config, hits_every_s=600.0) as server:
        record = server.service.record

        async def first_round() -> bool:
            return await record.read(last_round, "study") is not None

        await eventually(first_round)
        wish = BonusWish(key="key-of-a-page", cents=25, reason="You waited long.")
        done = await Acting(server.service, able=Able()).bonus(Ada(), "worker-0", wish)
        assert done.request == "key-of-a-page"

        async def given() -> list[LedgerState]:
            found = await record.read(payments.payments_of, ["arrival-0"])
            return [payment.state for payment in found]

        assert await eventually(given, within=15.0) == [LedgerState.APPROVED]
