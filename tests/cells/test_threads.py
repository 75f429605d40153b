"""Linear algebra on one thread: while it is asked for, and also in libraries that were loaded since."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from recombine.cells import threads


def counts() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    with threads.one_thread(), threadpool_limits(2):
        before = counts()
        assert before == {2}
        with threads.one_thread():
            assert counts() == {1}
            with threads.one_thread():
                assert counts() == {1}
            assert counts() == {1}
        assert counts() == before


def test_libraries_are_looked_for_again_where_modules_came(monkeypatch: pytest.MonkeyPatch) -> None:
    import threadpoolctl

    looked = []
    search = threadpoolctl.ThreadpoolController

    def controller() -> object:
        looked.append(len(sys.modules))
        return search()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", controller)
    threads._libraries.cache_clear()
    for module in ("", "", "loaded_since", "loaded_since"):
        if module:
            monkeypatch.setitem(sys.modules, module, ModuleType(module))
        with threads.one_thread():
            pass
    assert len(looked) == 2
    threads._libraries.cache_clear()
