"""Messages and the progress bar, on a terminal and elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from forklift.cli.console import ProgressBar


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
