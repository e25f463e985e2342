"""The environment: what is read, what is refused, and that no secret is shown."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Barrier, Thread

import pytest

from duologue.settings import SECRET_FILE, Settings, SettingsError, is_loopback, read_settings

KEY = "k" * 32


def problems(folder: Path, **environment: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        read_settings({f"DUOLOGUE_{name}": value for name, value in environment.items()}, folder)
    return caught.value.problems


def test_nothing_is_needed(tmp_path: Path) -> None:
    settings = read_settings({"PATH": "/bin", "HOME": "/root"}, tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/duologue.sqlite"
    assert settings.redis_url is None
    assert settings.public_url is None
    assert (settings.host, settings.port, settings.log_level) == ("127.0.0.1", 8000, "info")
    assert (settings.frame_ancestors, settings.trusted_proxies) == ((), 0)
    assert len(settings.secret_key) >= 32


def test_every_variable_is_read(tmp_path: Path) -> None:
    given = {
        "DUOLOGUE_DATABASE_URL": "postgresql://u:p@db/duologue",
        "DUOLOGUE_REDIS_URL": "redis://:secret@cache:6379/2",
        "DUOLOGUE_SECRET_KEY": KEY,
        "DUOLOGUE_PUBLIC_URL": "https://study.example.org/",
        "DUOLOGUE_HOST": "0.0.0.0",
        "DUOLOGUE_PORT": "8443",
        "DUOLOGUE_FRAME_ANCESTORS": "https://workersandbox.mturk.com, https://*.mturk.com 'self'",
        "DUOLOGUE_LOG_LEVEL": "WARNING",
        "DUOLOGUE_LOG_FORMAT": "JSON",
        "DUOLOGUE_METRICS_TOKEN": "sixteen or more characters",
        "DUOLOGUE_TRUSTED_PROXIES": "2",
        "DUOLOGUE_MTURK_ACCESS_KEY": "key",
        "DUOLOGUE_MTURK_SECRET_KEY": "its secret",
        "DUOLOGUE_PROLIFIC_TOKEN": "token",
        "DUOLOGUE_PROLIFIC_HOOK_SECRET": "the workspace's",
    }
    settings = read_settings(given, tmp_path)
    assert set(given) == {f"DUOLOGUE_{name.upper()}" for name in Settings.model_fields}
    assert settings.model_dump() == {
        "database_url": "postgresql://u:p@db/duologue",
        "redis_url": "redis://:secret@cache:6379/2",
        "secret_key": KEY,
        "public_url": "https://study.example.org",
        "host": "0.0.0.0",
        "port": 8443,
        "frame_ancestors": ("https://workersandbox.mturk.com", "https://*.mturk.com", "'self'"),
        "log_level": "warning",
        "log_format": "json",
        "metrics_token": "sixteen or more characters",
        "trusted_proxies": 2,
        "mturk_access_key": "key",
        "mturk_secret_key": "its secret",
        "prolific_token": "token",
        "prolific_hook_secret": "the workspace's",
    }
    assert list(tmp_path.iterdir()) == []


def test_a_variable_set_to_nothing_is_not_set(tmp_path: Path) -> None:
    settings = read_settings({"DUOLOGUE_REDIS_URL": "", "DUOLOGUE_PORT": ""}, tmp_path)
    assert settings.redis_url is None
    assert settings.port == 8000


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DATABSE_URL", "x", "unknown setting; did you mean DUOLOGUE_DATABASE_URL?"),
        ("DATABASE_URL", "mysql://h/d", "must begin with sqlite:// or postgresql://"),
        ("DATABASE_URL", "study.db", "must begin with sqlite:// or postgresql://"),
        ("REDIS_URL", "http://h", "must begin with redis:// or rediss:// or unix://"),
        ("REDIS_URL", "redis://cache:6379", "must hold a password"),
        ("REDIS_URL", "redis://[bad", "must be a URL"),
        ("SECRET_KEY", "short", "at least 32 characters"),
        ("PUBLIC_URL", "study.example.org", "must be an address such as"),
        ("PUBLIC_URL", "https://h/?a=1", "without query"),
        ("PORT", "http", "must be a valid integer"),
        ("PORT", "70000", "must be less than or equal to 65535 (it is '70000')"),
        ("FRAME_ANCESTORS", "https://a.org *", "[2] must name origins"),
        ("FRAME_ANCESTORS", "https://a.org; script-src", "[1] must name origins"),
        ("LOG_LEVEL", "loud", "must be 'debug', 'info', 'warning' or 'error' (it is 'loud')"),
        ("TRUSTED_PROXIES", "-1", "must be greater than or equal to 0"),
    ],
)
def test_each_fault_is_one_line_that_names_the_variable(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    found = problems(tmp_path, **{name: value})
    assert any(p.startswith(f"DUOLOGUE_{name}") and says in p for p in found), found
    assert all(len(problem.splitlines()) == 1 for problem in found)
    assert list(tmp_path.iterdir()) == [], "a wrong setting must not leave files behind"


def test_trap_36_redis_beyond_this_machine_takes_a_password(tmp_path: Path) -> None:
    for url in ("redis://127.0.0.1:6379", "redis://localhost", "redis://[::1]:1", "unix:///s"):
        assert read_settings({"DUOLOGUE_REDIS_URL": url}, tmp_path).redis_url == url
    for url in ("redis://10.0.0.5:6379", "rediss://user@cache", "redis:///0"):
        assert "password" in problems(tmp_path, REDIS_URL=url)[0]


def test_no_secret_is_shown(tmp_path: Path) -> None:
    given = {
        "DUOLOGUE_DATABASE_URL": "postgresql://u:HIDDEN@db/d",
        "DUOLOGUE_REDIS_URL": "redis://:HIDDEN@cache",
        "DUOLOGUE_SECRET_KEY": "HIDDEN" * 6,
    }
    settings = read_settings(given, tmp_path)
    assert "HIDDEN" not in repr(settings)
    assert "HIDDEN" not in f"{settings}"
    found = problems(
        tmp_path,
        DATABASE_URL="mysql://HIDDEN@h",
        REDIS_URL="http://HIDDEN@h",
        SECRET_KEY="HIDDEN",
    )
    assert len(found) == 3
    assert not any("HIDDEN" in problem for problem in found)


def test_the_secret_is_made_once_and_kept_private(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    first = read_settings({}, folder).secret_key
    assert read_settings({}, folder).secret_key == first
    assert stat.S_IMODE((folder / SECRET_FILE).stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [SECRET_FILE]
    assert read_settings({}, tmp_path / "other").secret_key != first
    assert read_settings({"DUOLOGUE_SECRET_KEY": KEY}, folder).secret_key == KEY


def test_processes_that_start_together_agree_on_the_secret(tmp_path: Path) -> None:
    for attempt in range(20):
        folder, start, seen = tmp_path / str(attempt), Barrier(4), list[str]()

        def begin(folder: Path = folder, start: Barrier = start, seen: list[str] = seen) -> None:
            start.wait()
            seen.append(read_settings({}, folder).secret_key)

        threads = [Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 4
        assert len(set(seen)) == 1


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    read_settings({}, tmp_path)
    (tmp_path / SECRET_FILE).chmod(0o640)
    (problem,) = problems(tmp_path)
    assert "chmod 600" in problem


@pytest.mark.parametrize("content", [b"short", b"", b"\xff" * 40])
def test_a_damaged_secret_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / SECRET_FILE
    file.write_bytes(content)
    file.chmod(0o600)
    (problem,) = problems(tmp_path)
    assert str(file) in problem


def test_the_environment_itself_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "DUOLOGUE_PORT", "9999")
    assert read_settings({}, tmp_path).port == 8000


def test_what_means_this_machine() -> None:
    assert all(is_loopback(host) for host in ("localhost", "127.0.0.1", "127.8.8.8", "::1"))
    assert not any(
        is_loopback(host) for host in ("", "0.0.0.0", "localhost.example.org", "10.1.1.1")
    )
