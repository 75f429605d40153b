"""Interrupts that meet Python where it can raise nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import weakref

import pytest

from recombine import interrupts
from recombine.interrupts import interrupts_wait, requests_interrupt


class Thing:
    pass


def _emptied(things: list[Thing]) -> None:
    with requests_interrupt():
        things.clear()
        time.sleep(60)


def test_an_interrupt_in_a_finalizer_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    thing = Thing()
    weakref.finalize(thing, signal.raise_signal, signal.SIGINT)
    hook, things = sys.unraisablehook, [thing]
    del thing
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _emptied(things)
    assert time.monotonic() - began < 50, "a wait is ended"
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_an_interrupt_that_comes_again_too_late_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_AGAIN", 0.5)  # however busy the machine is, not before the end
    thing = Thing()
    weakref.finalize(thing, signal.raise_signal, signal.SIGINT)
    arrived = []
    with monkeypatch.context() as patch:
        patch.setattr(interrupts, "_interrupt", lambda: arrived.append(True))
        with requests_interrupt():
            del thing
        time.sleep(0.7)
    assert arrived == []


def test_other_exceptions_that_cannot_be_raised_are_reported() -> None:
    text = """
import weakref
from recombine.interrupts import requests_interrupt
class Thing: pass
thing = Thing()
weakref.finalize(thing, int, "no number")
with requests_interrupt():
    del thing
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=True)
    assert "invalid literal for int() with base 10: 'no number'" in done.stderr


def test_a_first_interrupt_waits_until_it_is_asked_for() -> None:
    with interrupts_wait(True) as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted()


def test_a_request_to_end_is_an_interrupt() -> None:
    with requests_interrupt(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
