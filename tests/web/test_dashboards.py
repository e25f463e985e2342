"""The dashboard and the alert rules ask only for what a server shows, and each alert is explained.

PromQL is read as far as that takes: names, labels and their values. `promtool check rules`, where
there is one, reads all of it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from prometheus_client.parser import text_string_to_metric_families

from chatserver.server import serve
from dialogs.record import leases
from duologue.recruiting_metrics import RecruitingMetrics
from hit_manager.counts import Counts
from hit_manager.outbox import Paid
from hit_manager.reconciler import Report
from tests.live import Live

ROOT = Path(__file__).parents[2]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "duologue.json").read_text())
RULES_FILE = ROOT / "deploy" / "prometheus" / "alerts.yml"
RULES = yaml.safe_load(RULES_FILE.read_text())["groups"][0]["rules"]
PAGE = ROOT / "docs" / "how-to" / "watch-with-prometheus.md"

Labels = dict[str, set[str]]

FUNCTIONS = {
    "absent", "and", "by", "histogram_quantile", "increase", "le", "max", "min", "or", "rate",
    "sum", "time",
}  # fmt: skip
ELSEWHERE: dict[str, Labels] = {"up": {"job": {"duologue"}}}
"""What Prometheus adds by itself."""


@pytest_asyncio.fixture
async def shown(live: Live) -> dict[str, Labels]:
    """Every sample that a server shows which recruits, with the labels it has and their values."""
    counts = Counts()
    counts.did(Report(), Paid(), time.time())
    counts.calls["hits"] += 1
    counts.errors["hits", "unavailable"] += 1
    await live.prepare()
    assert await leases.take(live.record, live.study_id, leases.HITS, "h", time.time(), 60.0)
    collectors = [RecruitingMetrics(counts, "USD")]
    async with (
        serve(live.config, live.database_url, live.redis_url, collectors=collectors) as server,
        live.http.get(f"{server.url}/metrics") as response,
    ):
        text = await response.text()
    found: dict[str, Labels] = {name: dict(labels) for name, labels in ELSEWHERE.items()}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = found.setdefault(sample.name, {})
            for name, value in sample.labels.items():
                labels.setdefault(name, set()).add(value)
    return found


def wrong(expression: str, shown: dict[str, Labels]) -> list[str]:
    """What an expression asks for that nobody shows."""
    problems = []
    for name, _, matchers in re.findall(r"([a-zA-Z_]\w*)(\{([^}]*)\})?", _bare(expression)):
        if name in FUNCTIONS:
            continue
        if name not in shown:
            problems.append(name)
            continue
        for label, how, values in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', matchers):
            known = shown[name].get(label, set())
            named = values.split("|") if "~" in how else [values]
            if label not in ("job", "kind") and not known.issuperset(named):
                problems.append(f"{name}{{{label}{how}{values}}}")
    return problems


def _bare(expression: str) -> str:
    """Without durations, and without the labels that results are grouped by."""
    return re.sub(r"\[\w+\]|\bby \([^)]*\)", "", expression)


EXPRESSIONS = [
    *(pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES),
    *(
        pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", ())
    ),
]


async def test_nothing_is_asked_for_that_nobody_shows(shown: dict[str, Labels]) -> None:
    found = {each.id: wrong(str(each.values[0]), shown) for each in EXPRESSIONS}
    assert {name: problems for name, problems in found.items() if problems} == {}
    # The reading itself finds what is wrong.
    assert wrong("sum by (le) (rate(duologue_nothing_total[5m])) > 1", shown) == [
        "duologue_nothing_total"
    ]
    odd = 'max(duologue_study_payments{state="lost"})'
    assert wrong(odd, shown) == ["duologue_study_payments{state=lost}"]


async def test_what_results_are_grouped_by_is_there(shown: dict[str, Labels]) -> None:
    for each in EXPRESSIONS:
        expression = str(each.values[0])
        names = [name for name in re.findall(r"duologue_\w+", expression) if name in shown]
        for labels in re.findall(r"\bby \(([^)]*)\)", expression):
            for label in labels.split(", "):
                assert any(label in shown[name] for name in names), f"{each.id}: {label}"


def test_the_dashboard_has_a_row_for_each_question() -> None:
    rows = [panel["title"] for panel in DASHBOARD["panels"] if panel["type"] == "row"]
    assert rows == ["Now", "People", "Dialogs", "Latency", "Money", "Machine"]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def anchors(page: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", head).lower() for head in re.findall(r"^#+ (.*)$", page, re.M)}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_says_what_it_is_and_where_it_is_explained(rule: dict[str, Any]) -> None:
    assert rule["for"]
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"].endswith(".")
    file, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert ROOT / file == PAGE
    assert anchor in anchors(PAGE.read_text(encoding="utf-8"))


def test_every_explained_alert_is_one() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^### (Duologue\w+)$", page, re.M) == [rule["alert"] for rule in RULES]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool on this machine")
def test_prometheus_takes_its_files(tmp_path: Path) -> None:
    of_dashboard = [
        {"record": f"panel:{n}", "expr": str(each.values[0]).replace("$job", "duologue")}
        for n, each in enumerate(EXPRESSIONS)
    ]
    made = tmp_path / "rules.yml"
    made.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": of_dashboard}]}))
    for what, file in (
        ("config", RULES_FILE.with_name("prometheus.yml")),
        ("rules", RULES_FILE),
        ("rules", made),
    ):
        done = subprocess.run(
            ["promtool", "check", what, str(file)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
