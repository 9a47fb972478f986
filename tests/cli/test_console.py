"""Messages and the progress bar, on a terminal and elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from forklift.cli.console import ProgressBar, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use(progress: ProgressBar) -> None:
    with progress:
        progress.describe("bill [1].pdf")
        for _ in range(7):
            progress.count_token()
        progress.say("bill [1].pdf: [bold] is no markup")
        progress.finish_file()


def test_elsewhere_only_messages_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    use(ProgressBar(1))
    assert stream.getvalue() == "forklift: bill [1].pdf: [bold] is no markup\n"


def test_a_terminal_shows_files_and_tokens_and_gets_its_cursor_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    use(ProgressBar(3))
    written = stream.getvalue()
    assert "forklift: bill [1].pdf: [bold] is no markup\n" in written
    assert "bill [1].pdf" in written
    assert "7 tokens" in written
    assert "1/3" in written
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")  # cursor shown after it was hidden


def test_stopping_twice_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ProgressBar(1) as progress:
        progress.stop()
        progress.count_token()
        progress.finish_file()
        progress.stop()


def test_the_estimate_counts_only_files_that_took_work(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBar(12) as progress:
        progress.finish_file(0.001, worked=False)
        progress.finish_file(30)
        assert progress.shown
    assert "about 5 min 0 s left" in stream.getvalue()  # 10 files of 30 s


def test_a_hidden_bar_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(2, hidden=True) as progress:
        progress.describe("a.pdf")
        progress.finish_file(1)
        assert not progress.shown
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (185, "3 min 5 s"), (7860, "2 h 11 min")]
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
