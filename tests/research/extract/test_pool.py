import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from research.extract.extracted import EmptyPageError
from research.extract.pool import TextPool, TookTooLongError, UnreadableError, WorkerLostError
from tests.support.retrieval import tasks

pytestmark = pytest.mark.subprocess

ROOT = Path(__file__).parents[3]
PAGE = b"<html><title>T</title><body><p>Hello <b>you</b>.</p></body></html>"


@pytest.fixture
def pool():
    with TextPool(workers=2) as pool:
        yield pool


def run_script(code, **options):
    return subprocess.run(
        [sys.executable, *code], cwd=ROOT, capture_output=True, text=True, timeout=30, **options
    )


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return met


async def test_extracts_a_page(pool):
    extracted = await pool.extract(PAGE, "text/html", "https://example.org/")
    assert (extracted.title, extracted.text) == ("T", "Hello you.")


async def test_an_empty_page_raises_as_it_would_here(pool):
    with pytest.raises(EmptyPageError) as caught:
        await pool.extract(b"<html></html>", "text/html", "https://example.org/")
    assert caught.value.reason == "the page contains no readable text"


async def test_starts_nothing_before_it_is_needed():
    with TextPool(workers=1) as pool:
        assert pool._running == set()
        await pool.run(tasks.double, 1, timeout_seconds=5)
        assert len(pool._running) == 1


async def test_a_worker_is_kept_for_the_next_task():
    with TextPool(workers=1) as pool:
        first = await pool.run(tasks.process, None, timeout_seconds=5)
        assert await pool.run(tasks.process, None, timeout_seconds=5) == first


async def test_workers_know_neither_django_nor_the_environment(pool, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    await pool.extract(PAGE, "text/html", "https://example.org/")
    assert "django" not in await pool.run(tasks.modules, None, timeout_seconds=5)
    assert "OPENAI_API_KEY" not in await pool.run(tasks.environment, None, timeout_seconds=5)


async def test_a_task_over_its_limit_costs_its_worker_and_nothing_else():
    with TextPool(workers=1) as pool:
        first = await pool.run(tasks.process, None, timeout_seconds=5)
        started = time.monotonic()
        with pytest.raises(TookTooLongError):
            await pool.run(tasks.sleep, 30, timeout_seconds=0.2)
        assert time.monotonic() - started < 15, "the task sleeps for 30 seconds"
        assert not is_running(first)
        assert await pool.run(tasks.double, 2, timeout_seconds=5) == 4


async def test_a_worker_that_dies_is_replaced(pool):
    for _ in range(3):
        with pytest.raises(WorkerLostError):
            await pool.run(tasks.die, 3, timeout_seconds=5)
    assert await pool.run(tasks.double, 2, timeout_seconds=5) == 4


async def test_a_worker_that_was_killed_from_outside_is_replaced():
    with TextPool(workers=1) as pool:
        process = await pool.run(tasks.process, None, timeout_seconds=5)
        os.kill(process, signal.SIGKILL)
        assert wait_until(lambda: not is_running(process))
        with pytest.raises(WorkerLostError):
            await pool.run(tasks.double, 2, timeout_seconds=5)
        assert await pool.run(tasks.double, 2, timeout_seconds=5) == 4


async def test_workers_outlive_an_interrupt():
    with TextPool(workers=1) as pool:
        process = await pool.run(tasks.process, None, timeout_seconds=5)
        os.kill(process, signal.SIGINT)
        assert await pool.run(tasks.process, None, timeout_seconds=5) == process


async def test_the_loop_runs_on_while_workers_work(pool):
    task = asyncio.create_task(pool.run(tasks.sleep, 0.3, timeout_seconds=5))
    gaps = []
    while not task.done():
        started = time.monotonic()
        await asyncio.sleep(0.01)
        gaps.append(time.monotonic() - started)
    assert len(gaps) > 10


async def test_a_page_that_breaks_its_reader_is_named(pool, monkeypatch, caplog):
    monkeypatch.setattr("research.extract.pool.extract_page", tasks.fail)
    with pytest.raises(UnreadableError, match="cannot be read"):
        await pool.extract(b"x", "text/html", "", timeout_seconds=5)
    assert "broke its reader" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
async def test_a_task_gets_no_more_memory_than_its_share(pool):
    with pytest.raises(MemoryError):
        await pool.run(tasks.hoard, 3 * 1024**3, timeout_seconds=20)
    assert await pool.run(tasks.double, 2, timeout_seconds=5) == 4


async def test_what_cannot_be_sent_is_named(pool):
    with pytest.raises(RuntimeError, match="lock"):
        await pool.run(tasks.unpicklable, None, timeout_seconds=5)
    assert await pool.run(tasks.double, 2, timeout_seconds=5) == 4


async def test_map_keeps_the_order_and_gives_failures_as_values(pool):
    done = [pair async for pair in pool.map(tasks.fail_on_three, range(40), batch=4)]
    assert [item for item, _ in done] == list(range(40))
    assert isinstance(done[3][1], ValueError)
    assert [value for item, value in done if item != 3] == [n for n in range(40) if n != 3]


async def test_an_item_over_its_limit_costs_only_itself(pool):
    seconds = [0.0, 0.0, 30.0, 0.0, 0.0]
    done = [v async for _, v in pool.map(tasks.sleep, seconds, batch=5, timeout_seconds=0.3)]
    assert isinstance(done[2], TookTooLongError)
    assert done[:2] + done[3:] == [0.0] * 4


async def test_an_item_that_kills_its_worker_costs_only_itself(pool):
    calls = ((tasks.double, 1), (tasks.die, 1), (tasks.double, 2))
    done = [value async for _, value in pool.map(apply, calls, batch=3)]
    assert (done[0], done[2]) == (2, 4)
    assert isinstance(done[1], WorkerLostError)


def apply(call):
    function, item = call
    return function(item)


async def test_map_reads_its_items_as_results_are_taken(pool):
    taken = []

    def items():
        for number in range(1_000):
            taken.append(number)
            yield number

    mapped = pool.map(tasks.double, items(), batch=2)
    await anext(mapped)
    assert len(taken) <= 10
    await mapped.aclose()


async def test_close_is_quick_and_ends_what_is_under_way():
    pool = TextPool(workers=2)
    process = await pool.run(tasks.process, None, timeout_seconds=5)
    running = [asyncio.create_task(pool.run(tasks.sleep, 30, timeout_seconds=60)) for _ in range(4)]
    await asyncio.sleep(0.3)
    started = time.monotonic()
    pool.close()
    assert time.monotonic() - started < 15, "the tasks sleep for 30 seconds"
    for task in running:
        with pytest.raises(WorkerLostError):
            await asyncio.wait_for(task, 15)
    assert wait_until(lambda: not is_running(process))
    with pytest.raises(WorkerLostError):
        await pool.run(tasks.double, 1, timeout_seconds=5)


def test_one_pool_serves_one_loop_after_another():
    with TextPool(workers=1) as pool:
        for number in range(3):
            assert asyncio.run(pool.run(tasks.double, number, timeout_seconds=5)) == number * 2


SCRIPT = """
import asyncio
from research.extract.pool import TextPool
pool = TextPool()
page = asyncio.run(pool.extract(b"<p>Hello</p>", "text/html", "https://example.org/"))
print(page.text)
"""


def test_a_script_without_a_guard_works():
    done = run_script(["-c", SCRIPT])
    assert (done.stdout, done.returncode, done.stderr) == ("Hello\n", 0, "")


def test_a_script_in_a_file_works_and_is_run_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "print('once')\n")
    done = run_script([str(script)], env={"PYTHONPATH": str(ROOT)})
    assert (done.stdout, done.returncode, done.stderr) == ("Hello\nonce\n", 0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_die_with_a_parent_that_is_killed(tmp_path):
    said = tmp_path / "process"
    code = (
        "import asyncio\nfrom research.extract.pool import TextPool\n"
        "from tests.support.retrieval import tasks\n"
        f"asyncio.run(TextPool().run(tasks.process_then_sleep, {str(said)!r}, timeout_seconds=60))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    assert wait_until(lambda: said.exists() and said.read_text() != "", 10)
    worker = int(said.read_text())
    assert is_running(worker)
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not is_running(worker))
