"""Two people in two browsers, from the link to the completion code."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from dialogs.record.tables import items
from dialogs.record.totals import Totals, study_totals
from dialogs.rules import Role
from tests.e2e.stage import WAIT_MS, Stage, on_stage, photos, quick, rounds, write_study
from tests.live import eventually

pytestmark = pytest.mark.e2e


async def totals(stage: Stage) -> Totals:
    service = stage.server.service
    return await service.record.read(study_totals, service.config.study.id)


async def test_a_full_dialog_and_the_questioner_never_gets_the_image(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        await expect(answerer.get("picture")).to_be_visible(timeout=WAIT_MS)
        await rounds(questioner, answerer, 1, 9)
        await questioner.say("question 10?")
        await answerer.reads("question 10?")
        # Who goes now would miss the code.
        await expect(questioner.get("now-line")).to_contain_text("your completion code comes")
        await expect(questioner.get("last-answer")).to_be_visible()
        await answerer.get("box").fill("answer 10.")
        await answerer.press("send")
        await questioner.shows("released")
        await questioner.reads("answer 10.")
        codes = [await questioner.code(), await answerer.code()]
        assert len(set(codes)) == 2

        pictures = {file.read_bytes() for file in site.pictures.iterdir()}
        seen = [await r.body() for r in answerer.responses if "/items/" in r.url]
        assert seen, "the answerer was shown the picture"
        assert set(seen) <= pictures
        for response in questioner.responses:
            assert "/items/" not in response.url
            if response.status == 200 and not response.url.startswith("ws"):
                body = await response.body()
                assert body not in pictures
                assert not (response.headers.get("content-type", "")).startswith("image/")

        after = await totals(stage)
        assert (after.complete, after.messages, after.owed) == (1, 20, 2)

        # Whoever opens the link again sees the same end.
        await questioner.open()
        assert await questioner.code() == codes[0] or await questioner.code() == codes[1]


async def test_a_reload_in_mid_sentence_loses_nothing(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        await rounds(questioner, answerer, 1, 2)
        await questioner.get("box").fill("is there a half-written")
        await questioner.page.reload()
        await questioner.shows("talking")
        await expect(questioner.get("box")).to_have_value("is there a half-written")
        await expect(questioner.get("message")).to_have_count(4)
        await questioner.say("is there a half-written question?")
        await answerer.reads("is there a half-written question?")


async def test_a_lost_connection_that_comes_back_in_time(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    config = quick(site, rules={"grace_s": 12.0})
    async with on_stage(browser, site, redis_url, config) as stage:
        questioner, answerer = await stage.pair()
        await questioner.say("question 1?")
        await answerer.reads("question 1?")
        await questioner.page.context.set_offline(True)
        await stage.cut(questioner)
        await expect(questioner.get("offline-banner")).to_be_visible(timeout=WAIT_MS)
        await expect(answerer.get("partner-away")).to_be_visible(timeout=WAIT_MS)
        await answerer.say("answer 1.")
        await questioner.page.context.set_offline(False)
        await questioner.reads("answer 1.")
        await expect(answerer.get("partner-away")).to_have_count(0, timeout=WAIT_MS)
        await rounds(questioner, answerer, 2, 3)


async def test_a_second_press_where_start_was_is_harmless(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        one, other = await stage.person(), await stage.person()
        await one.ready()
        await other.ready()
        await one.shows("matched")
        box = await one.get("start").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await one.page.mouse.click(x, y)
        await expect(one.get("match-line")).to_contain_text("ready", timeout=WAIT_MS)
        await one.page.mouse.click(x, y)
        await other.start()
        await one.shows("talking")
        await other.shows("talking")


async def test_not_now_is_explained_to_both(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        one, other = await stage.person(), await stage.person()
        await one.ready()
        await other.ready()
        await one.start()
        await other.press("not-now")
        await other.shows("arrived")
        await expect(other.get("declined")).to_be_visible()
        await one.shows("waiting")
        await expect(one.get("partner-did-not-start")).to_be_visible()
        # Whoever has changed their mind meets the same person, and it is as if nothing had been.
        await other.press("ready")
        await one.start()
        await other.start()
        await one.shows("talking")


@pytest.mark.parametrize("stays", ["questioner", "answerer"])
async def test_left_alone_to_the_completion_code(
    browser: Browser, tmp_path: Path, redis_url: str, stays: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        await rounds(questioner, answerer, 1, 4)
        one, gone = (questioner, answerer) if stays == "questioner" else (answerer, questioner)
        if stays == "questioner":
            await gone.press("leave")
            await gone.press("leave-confirm")
            await gone.shows("released")
        else:
            await gone.page.close()
        await expect(one.get("solo-note")).to_be_visible(timeout=WAIT_MS)
        for n in range(5, 11):
            await one.say(f"alone {n}")
        await one.code()
        after = await totals(stage)
        assert (after.solo, after.relaunches, after.owed) == (1, 1, 1)
        assert after.releases == {"left": 1, "finished_alone": 1}


async def test_the_team_writes_gives_time_and_ends_it(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        await rounds(questioner, answerer, 1, 2)
        service = stage.server.service
        (state,) = service.dialogs.served()
        team, dialog = service.steering, state.dialog_id
        await team.tell(dialog, Role.ANSWERER, "<b>Only</b> for the answerer.", "t1")
        await team.extend(dialog, 300.0, "t2")
        note = answerer.get("team-message")
        await expect(note).to_contain_text("Message from the research team")
        await expect(note).to_contain_text("<b>Only</b> for the answerer.")
        for person in (questioner, answerer):
            await expect(person.get("more-time")).to_be_visible(timeout=WAIT_MS)
        await expect(questioner.get("team-message")).to_have_count(0)
        await rounds(questioner, answerer, 3, 3)
        await answerer.open()
        await answerer.shows("talking")
        await expect(note).to_contain_text("for the answerer.")
        seen = (
            await answerer.get("log")
            .locator("> [data-testid]")
            .evaluate_all("all => all.map(each => each.dataset.testid)")
        )
        assert seen == ["message"] * 4 + ["team-message", "more-time"] + ["message"] * 2
        await team.end(dialog, "Thank you, that is enough.", {Role.ANSWERER: 40}, "t3")
        for person, amount in ((questioner, "$1.50"), (answerer, "$0.40")):
            await person.shows("released")
            await expect(person.page.locator("h1")).to_contain_text("research team ended")
            await expect(person.get("team-reason")).to_contain_text("that is enough.")
            await expect(person.get("amount")).to_have_text(amount)
            await person.code()
        after = await totals(stage)
        assert (after.relaunches, after.owed_cents) == (1, 190)
        assert after.releases == {"ended_by_team": 2}


async def test_both_gone(browser: Browser, tmp_path: Path, redis_url: str) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        await questioner.say("question 1?")
        await questioner.page.close()
        await answerer.page.close()

        async def ended() -> Totals | None:
            found = await totals(stage)
            return found if found.abandoned else None

        after = await eventually(ended, within=60)
        assert after.releases == {"left": 2}
        assert (after.owed, after.relaunches, after.live) == (0, 1, 0)


async def test_two_tabs_of_one_person_and_then_a_second_person(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        first = await stage.person()
        await first.ready()
        await first.shows("waiting")
        second = await stage.tab(first.page.context)
        await second.open()
        await second.shows("waiting")
        await expect(first.get("stopped-reason")).to_be_visible(timeout=WAIT_MS)

        other = await stage.person()
        await other.ready()
        await second.start()
        await other.start()
        questioner, answerer = (
            (second, other) if await second.role() == "questioner" else (other, second)
        )
        await rounds(questioner, answerer, 1, 1)
        assert (await totals(stage)).live == 1

        # The first tab can take the dialog over again, and the second is told.
        await first.press("continue-here")
        await first.shows("talking")
        await expect(second.get("stopped-reason")).to_be_visible(timeout=WAIT_MS)


async def test_nothing_left_to_do(browser: Browser, tmp_path: Path, redis_url: str) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    config = quick(site)
    async with on_stage(browser, site, redis_url, config) as stage:
        service = stage.server.service
        with service.record.engine.begin() as connection:
            connection.execute(items.update().values(wanted=0))
        await service.matching.sync_places()
        person = await stage.person()
        await person.ready()
        await expect(person.get("nothing-left")).to_be_visible(timeout=WAIT_MS)
        await person.press("stop-waiting")
        await person.code()
        after = await totals(stage)
        assert after.releases == {"study_full": 1}
        assert (after.owed, after.owed_cents) == (1, 10)


async def test_text_is_text_and_what_cannot_be_sent_is_not_sent(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        await questioner.say("<b>bold</b> & 日本語 😀?")
        await answerer.reads("<b>bold</b> & 日本語 😀?")
        assert await answerer.page.locator("[data-testid=message] b").count() == 0
        for unsendable in ("x" * 501, " \u200b ", "\u0301"):
            await answerer.get("box").fill(unsendable)
            await expect(answerer.get("send")).to_have_attribute("aria-disabled", "true")
        await expect(answerer.get("message")).to_have_count(1)


async def test_no_cookies_and_no_third_parties(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url) as stage:
        questioner, answerer = await stage.pair()
        for person in (questioner, answerer):
            assert await person.page.context.cookies() == []
            assert {r.url.split("/")[2] for r in person.responses} == {
                stage.server.url.split("/")[2]
            }
            for response in person.responses:
                assert "set-cookie" not in response.headers
