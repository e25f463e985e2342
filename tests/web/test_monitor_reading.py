"""What the team reads over HTTP: each view, its filters, and what nobody may read."""

from __future__ import annotations

from typing import Any

import pytest

from dialogs.quality import Flag
from dialogs.record import requests
from dialogs.record.studies import new_study
from dialogs.record.tables import findings, workers
from dialogs.record.writer import Decision
from dialogs.rules import AdminRole
from tests.live import Live
from tests.team import Member, cookie_for, join

API = "/api/monitor"
LISTS = ("dialogs", "workers", "hits", "chains", "ledger", "requests")


async def read(who: Member, path: str) -> Any:
    status, body = await who.get(f"{API}/{path}")
    assert status == 200, body
    return body


async def test_every_view_of_a_study_that_runs(live_each: Live) -> None:
    live = live_each
    asker, teller = await live.two(items=2)
    await live.converse(asker, teller)
    await live.pair(*await live.people(2))
    who = await join(live, AdminRole.REVIEWER)
    now = await read(who, "now")
    assert (now["places"], now["done"], now["live"], now["cost"]) == (2, 1, 1, 300)
    assert now["forecast"] == 600
    assert now["began_at"] == min(row.created_at for row in await live.rows_of("arrivals"))
    # Whoever has this address may come.
    assert (await read(who, "me"))["study"]["work"].endswith("/work")
    assert now["hourly"] > 0
    chart = await read(who, "chart?hours=1")
    assert sum(point["pairs"] for point in chart["points"]) == 2
    assert sum(point["complete"] for point in chart["points"]) == 1
    dialogs = await read(who, "dialogs")
    assert [row["phase"] for row in dialogs["rows"]] == ["paired", "ended"]
    done = dialogs["rows"][1]
    assert done["messages"] == 20
    dialog = await read(who, f"dialogs/{done['id']}")
    assert [e["kind"] for e in dialog["entries"]] == ["opened", *["said"] * 20, "ended"]
    assert {p["cents"] for p in dialog["payments"]} == {150}
    assert dialog["standing"]["outcome"] == "complete"
    assert not dialog["relaunched"]
    workers = await read(who, "workers")
    assert workers["total"] == 4
    person = await read(who, f"workers/{done['workers'][0]}")
    assert person["row"]["complete"] == 1
    assert person["releases"] == {"completed": 1}
    assert [d["id"] for d in person["dialogs"]] == [done["id"]]
    assert person["external_id"]
    ledger = await read(who, "ledger")
    assert ledger["sums"] == [{"state": "owed", "payments": 2, "cents": 300}]
    assert ledger["total"] == 2
    hits = await read(who, "hits")
    assert (hits["total"], hits["wanted"]) == (0, 2)
    assert (await read(who, "chains"))["rows"] == []


async def test_a_part_in_full_is_paid_by_the_rules_of_its_dialog(live: Live) -> None:
    """Whatever the study pays by now."""
    await live.two(items=2)
    who = await join(live, AdminRole.OWNER)
    change = {"changes": {"pay_complete": 220}, "reason": "r", "known": {}}
    assert (await who.post(f"{API}/study/change", change))[0] == 200
    await live.pair(*await live.people(2))
    pays = []
    for row in (await read(who, "dialogs"))["rows"]:
        seats = (await read(who, f"dialogs/{row['id']}"))["standing"]["seats"]
        pays.append([seat["full_pay"] for seat in seats])
    assert sorted(pays) == [[150, 150], [220, 220]]


async def test_payments_lead_to_their_dialogs(live: Live) -> None:
    asker, teller = await live.two()
    await live.converse(asker, teller)
    (one,) = await live.people(1)
    await one.do("ready")
    await one.do("leave", {"reason": ""})
    who = await join(live, AdminRole.VIEWER)
    ((dialog,),) = [[row["id"] for row in (await read(who, "dialogs"))["rows"]]]
    for payment in (await read(who, "ledger"))["rows"]:
        expected = None if payment["reason"] == "waiting" else dialog
        assert payment["dialog_id"] == expected


async def test_flags_say_what_they_are_called_and_where_they_stand(live: Live) -> None:
    await live.two()
    who = await join(live, AdminRole.REVIEWER)
    ((dialog,),) = [[row["id"] for row in (await read(who, "dialogs"))["rows"]]]
    with live.record.engine.begin() as connection:
        for n, name in enumerate(("pasted", "pasted", "of_the_future")):
            row = {"dialog_id": dialog, "number": n + 1, "flag": name, "reason": "r", "at": 1.0}
            connection.execute(findings.insert(), row)
    assert (await who.post(f"{API}/dialogs/{dialog}/flag", {"reason": "Rude."}))[0] == 200
    flags = (await read(who, "flags"))["flags"]
    assert {each["name"] for each in flags} == {*Flag, "team", "of_the_future"}
    assert [each["dialogs"] for each in flags] == [1, 1, 1] + [0] * (len(Flag) - 1)
    by_name = {each["name"]: each for each in flags}
    pasted = by_name["pasted"]
    assert (pasted["label"], pasted["severity"]) == ("pasted", "doubt")
    assert all(each["means"].endswith(".") for each in flags if each["name"] != "of_the_future")
    assert (by_name["team"]["label"], by_name["team"]["severity"]) == ("by the team", None)
    assert by_name["of_the_future"]["label"] == "of the future"


async def test_requests_say_who_wants_what_and_what_is_in_the_way(live: Live) -> None:
    await live.begin()
    await live.people(1)
    (arrival,) = await live.rows_of("arrivals")
    who = await join(live, AdminRole.OWNER, "Ada")
    path = f"{API}/workers/{arrival.worker_id}"
    bonus = {"key": "key-of-a-page", "cents": 25, "reason": "You waited."}
    assert (await who.post(f"{path}/bonus", bonus))[0] == 200
    request = (await live.record.read(requests.requests_by_id, ["key-of-a-page"])).popitem()[1]
    await live.record.writer.commit(requests.failed(request, "no money", 9.5))
    found = await read(who, "requests")
    assert (found["states"], found["total"], found["next"]) == ({"failed": 1}, 1, None)
    (row,) = found["rows"]
    assert row["at"] == request.at
    del row["at"]
    assert row == {
        "id": "key-of-a-page",
        "kind": "bonus",
        "target": arrival.id,
        "worker_id": arrival.worker_id,
        "needs": "owner",
        "by": "Ada",
        "state": "failed",
        "done_at": 9.5,
        "problem": "no money",
        "text": "You waited.",
    }
    assert (await read(who, "requests?state=wanted"))["rows"] == []
    now = await read(who, "now")
    assert now["stuck"] == {
        "payments": 0,
        "cents": 0,
        "requests": 1,
        "problems": 0,
        "to_approve": 0,
        "to_approve_cents": 0,
    }
    assert (await read(who, f"workers/{arrival.worker_id}"))["requests"][0]["needs"] == "owner"


async def test_what_workers_tell_is_read_by_the_team(live: Live) -> None:
    asker, _ = await live.two()
    await asker.do("report", {"text": "The picture is <b>upside down</b>."})
    who = await join(live, AdminRole.VIEWER, "Vera")
    found = await read(who, "told")
    (row,) = found["rows"]
    assert (found["total"], row["kind"], row["text"]) == (
        1,
        "problem",
        "The picture is <b>upside down</b>.",
    )
    (dialog,) = await live.dialogs()
    assert row["dialog_id"] == dialog.state.dialog_id
    assert row["worker_id"] in {each.id for each in await live.rows_of("workers")}
    assert (await read(who, "now"))["stuck"]["problems"] == 1
    assert (await read(who, "told?kind=feedback"))["rows"] == []


async def test_filters_are_those_of_the_address(live: Live) -> None:
    asker, teller = await live.two(items=2)
    await live.converse(asker, teller)
    await live.pair(*await live.people(2))
    who = await join(live, AdminRole.VIEWER)

    async def phases(query: str) -> list[str]:
        return [row["phase"] for row in (await read(who, f"dialogs?{query}"))["rows"]]

    assert await phases("phase=ended") == ["ended"]
    assert await phases("outcome=complete&phase=paired") == []
    assert await phases("acceptance=rejected") == []
    assert await phases("flag=&worker=") == ["paired", "ended"]
    assert await phases("since=99999999999") == []
    problem = await read(who, "ledger?problem=true")
    assert problem["rows"] == []
    assert (await read(who, "ledger?state=owed"))["total"] == 2
    assert (await read(who, "workers?flagged=true"))["total"] == 0


async def test_what_was_ended_from_outside_is_not_called_abandoned(live_each: Live) -> None:
    live = live_each
    asker, teller = await live.two(items=3)
    await live.converse(asker, teller, 1)
    owner = await join(live, AdminRole.OWNER)
    (held,) = await live.dialogs()
    by_team = held.state.dialog_id
    end = {"key": "an-end-of-the-team", "reason": "The picture is broken."}
    assert (await owner.post(f"{API}/dialogs/{by_team}/end", end))[0] == 200
    for person in (asker, teller):
        await person.shows("released")

    (row,) = (await read(owner, "dialogs?outcome=ended_by_team"))["rows"]
    assert (row["id"], row["outcome"], row["ending"]) == (by_team, "abandoned", "ended_by_team")
    for other in ("abandoned", "time_limit", "complete", "solo"):
        assert (await read(owner, f"dialogs?outcome={other}"))["rows"] == []
    dialog = await read(owner, f"dialogs/{by_team}")
    assert dialog["standing"]["ending"] == dialog["entries"][-1]["why"] == "ended_by_team"
    person = await read(owner, f"workers/{row['workers'][0]}")
    assert [each["ending"] for each in person["dialogs"]] == ["ended_by_team"]
    (chain,) = (await read(owner, "chains"))["rows"]
    assert chain["caption"] == row["caption"]
    assert [each["how"] for each in chain["dialogs"]] == ["ended_by_team"]
    waits = {"verdict": None, "outcome": "ended_by_team", "dry_run": True}
    assert (await owner.post(f"{API}/review/bulk", waits))[1]["dialogs"] == 1
    waits["outcome"] = "abandoned"
    assert (await owner.post(f"{API}/review/bulk", waits))[1]["dialogs"] == 0


async def test_who_only_watches_is_not_told_who_people_are(live: Live) -> None:
    await live.begin()
    (person,) = await live.people(1)
    (row,) = await live.rows_of("workers")
    viewer, reviewer = [await join(live, role) for role in (AdminRole.VIEWER, AdminRole.REVIEWER)]
    assert (await read(reviewer, f"workers/{row.id}"))["external_id"] == row.external_id
    seen = await read(viewer, f"workers/{row.id}")
    assert seen["external_id"] is None
    assert row.external_id not in str(seen)
    # Nor by asking whether it begins with this or that.
    assert (await read(reviewer, f"workers?search={row.external_id[:9]}"))["total"] == 1
    assert (await read(viewer, f"workers?search={row.external_id[:9]}"))["total"] == 0
    assert person.stage == "arrived"


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("dialogs?phase=over", "phase"),
        ("dialogs?outcome=COMPLETE", "outcome"),
        ("dialogs?since=soon", "since"),
        ("dialogs?since=nan", "since"),
        ("dialogs?until=inf", "until"),
        ("dialogs?after=x", "after"),
        ("dialogs?after=W10", "after"),
        ("dialogs?worker=" + "w" * 201, "worker"),
        ("dialogs?flag=%00", "flag"),
        ("workers?excluded=yes", "excluded"),
        ("workers?search=%0d%0a", "search"),
        ("chart?hours=0", "hours"),
        ("chart?hours=-1", "hours"),
        ("chart?hours=49", "hours"),
        ("chains?after=x", "after"),
        ("hits?state=gone", "state"),
        ("ledger?state=owing", "state"),
        ("ledger?problem=1", "problem"),
        ("requests?state=dropped", "state"),
        ("requests?after=x", "after"),
    ],
)
async def test_what_makes_no_sense_is_told_by_its_name(live: Live, path: str, where: str) -> None:
    await live.begin()
    status, body = await (await join(live, AdminRole.OWNER)).get(f"{API}/{path}")
    assert (status, body["code"]) == (400, "bad_request")
    assert body["error"].startswith(f"{where}: ")


@pytest.mark.parametrize(
    "path",
    [
        "dialogs/d_none",
        "workers/w_none",
        "items/none/picture",
        "dialogs/%00",
        "items/..%2F/picture",
    ],
)
async def test_what_is_not_there_is_not_found(live: Live, path: str) -> None:
    await live.begin()
    status, body = await (await join(live, AdminRole.OWNER)).get(f"{API}/{path}")
    assert status == 404, body


async def test_the_picture_is_for_the_team_alone(live: Live) -> None:
    await live.begin(items=1)
    (item,) = await live.rows_of("items")
    who = await join(live, AdminRole.VIEWER)
    async with live.http.get(
        f"{live.urls[0]}{API}/items/{item.id}/picture",
        headers={"Cookie": cookie_for(live, who.token)},
    ) as response:
        assert response.status == 200
        assert response.content_type.startswith("image/")
        assert response.headers["Cache-Control"] == "private, max-age=3600"
    async with live.http.get(f"{live.urls[0]}{API}/items/{item.id}/picture") as response:
        assert response.status == 401


@pytest.mark.parametrize("path", LISTS)
async def test_a_list_says_where_its_next_page_begins(live: Live, path: str) -> None:
    await live.begin()
    found = await read(await join(live, AdminRole.VIEWER), path)
    assert found["next"] is None
    assert found["total"] == 0


async def test_people_of_another_study_are_not_this_teams(live: Live) -> None:
    """One database, two studies."""
    await live.begin()
    who = await join(live, AdminRole.OWNER)
    await live.record.writer.commit(new_study("elsewhere", {}, 1.0))
    row = {
        "id": "w_elsewhere",
        "study_id": "elsewhere",
        "recruiter": "link",
        "external_id": "x",
        "created_at": 1.0,
    }
    await live.record.writer.commit(Decision("w_elsewhere", ((workers, row),)))
    assert (await who.get(f"{API}/workers/w_elsewhere"))[0] == 404
    assert (await read(who, "workers"))["total"] == 0
