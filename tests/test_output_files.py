"""Places to write: refused before the work, and each for its own reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recombine.errors import InputError
from recombine.output_files import check_file, check_outputs, files_together, path_beside, write_whole


def test_a_file_may_be_new_or_overwritten_with_leave(tmp_path: Path) -> None:
    there = tmp_path / "report.html"
    check_file(there, force=False)
    there.touch()
    check_file(there, force=True)
    with pytest.raises(InputError, match=r"exists; .*--force \(force=True in Python\)"):
        check_file(there, force=False)
    with pytest.raises(InputError, match="is a folder"):
        check_file(tmp_path, force=True)
    with pytest.raises(InputError, match="is not a folder"):
        check_file(there / "below.html", force=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
def test_a_pipe_or_device_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(InputError, match="is a pipe or device"):
            check_file(path, force=True)


def test_an_input_is_never_an_output_whatever_its_name(tmp_path: Path) -> None:
    table, targets = tmp_path / "table.csv", tmp_path / "targets.csv"
    for path in (table, targets):
        path.write_text(path.name)
    os.link(table, tmp_path / "hard.html")
    (tmp_path / "soft.html").symlink_to(targets)
    with pytest.raises(InputError, match=r"hard\.html is the table itself"):
        check_outputs([None, tmp_path / "hard.html"], [table, None, targets], force=True)
    with pytest.raises(InputError, match=r"soft\.html is .*targets\.csv, which this command reads"):
        check_outputs([tmp_path / "soft.html"], [table, None, targets], force=True)
    check_outputs([tmp_path / "new.html"], [table, tmp_path / "missing.csv"], force=False)


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "new.html")
    with pytest.raises(InputError, match="named for two outputs"):
        check_outputs([tmp_path / "new.html", tmp_path / "link"], [], force=True)
    check_outputs([tmp_path / "one.html", tmp_path / "two.html", None], [], force=False)


def test_links_and_rights_of_a_file_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "report.html", tmp_path / "newest.html"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target.name)
    write_whole(link, "new \ud800")
    assert link.is_symlink()
    assert target.read_text() == "new \\ud800"
    assert target.stat().st_mode & 0o777 == 0o640


def test_whatever_goes_wrong_the_old_file_stays_and_the_error_names_it(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), path_beside(target) as draft:
        draft.write_text("half") / draft.write_text("")  # a division by zero, after something was written
    with pytest.raises(OSError, match="No space") as stopped, path_beside(target):
        raise OSError(28, "No space left on device")
    assert stopped.value.filename == str(target)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "old"


def test_a_file_has_its_name_once_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    with path_beside(target) as draft:
        draft.write_text("whole")
        assert not target.exists()
    assert (target.read_text(), [path.name for path in tmp_path.iterdir()]) == ("whole", ["report.html"])


def test_files_written_together_change_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def interrupted() -> None:
        with files_together():
            write_whole(tmp_path / "a", "new")
            write_whole(tmp_path / "b", "new")
            assert (tmp_path / "a").read_text() == "old"
            raise KeyboardInterrupt

    def fill_the_disk() -> None:
        with path_beside(tmp_path / "c") as draft:
            draft.write_text("half")
            raise OSError(28, "the disk is full")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}
    with files_together():
        write_whole(tmp_path / "a", "new")
        with files_together():
            write_whole(tmp_path / "b", "new")
        assert not (tmp_path / "b").exists()
        with pytest.raises(OSError, match=r"full.*'.*c'"):
            fill_the_disk()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}
