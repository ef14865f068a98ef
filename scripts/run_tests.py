"""Run the tests of the product, as `make test` does, and end with one line of totals.

Tests run in up to four processes, one per core, and one more, and browser tests beside them in as
many as there are cores: all wait half of the time. Browser tests are separate, because synchronous
Playwright keeps an event loop running, in which asyncio tests fail; their output follows that of
the others. `--fast` (`make test-fast`) skips tests of browsers, services and other processes, and
the slowest tests; `--bench` (`make test-bench`) runs the tests of the benchmarks instead. Arguments
are passed to both parts (`-n 0` runs each in one process). TEST_SUMMARY may name a file to which
the totals are added.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BROWSER_TESTS = "tests/browser"
BENCH_TESTS = "tests/bench"
ENGINE_TESTS = "tests/engine"
FAST, BENCH = "--fast", "--bench"
NOT_FAST = " and not services and not subprocess and not slow"
PROCESSES = min(4, os.cpu_count() or 1)
OPTIONS = ["--dist", "worksteal", "--durations=25"]
NO_TESTS_SELECTED = 5
INTERRUPTED = 2


def main(extra: list[str]) -> int:
    is_fast, is_bench = FAST in extra, BENCH in extra
    extra = [argument for argument in extra if argument not in (FAST, BENCH)]
    apart = ["--ignore", BROWSER_TESTS, "--ignore", BENCH_TESTS]
    if is_bench:
        parts = [([BENCH_TESTS], PROCESSES + 1)]
    elif is_fast:
        parts = [(["tests", *apart, "-m", f"not browser{NOT_FAST}"], PROCESSES + 1)]
    else:
        parts = [(["tests", *apart, "-m", "not browser"], PROCESSES + 1)]
        if (ROOT / BROWSER_TESTS).is_dir():
            parts.append(([BROWSER_TESTS, "-p", "no:schemathesis"], PROCESSES))
    if not is_bench and not (ROOT / ENGINE_TESTS / "__pycache__").is_dir():
        compile_tests()
    total: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        running = [
            Part(Path(folder), number, [*part, "-n", str(processes), *OPTIONS, *extra])
            for number, (part, processes) in enumerate(parts)
        ]
        for part in running:
            status, counts = part.finish()
            total += counts
            if status not in (0, NO_TESTS_SELECTED):
                failed = status
    if failed == INTERRUPTED:
        return 130
    if not total:
        print("No test was selected.")
        return failed or NO_TESTS_SELECTED
    print(f"\nAll parts together:\n{describe(total)}")
    if summary := os.environ.get("TEST_SUMMARY"):
        with open(summary, "a") as file:
            file.write(f"{describe(total)}\n")
    return failed


def compile_tests() -> None:
    """Compile all tests once: in a fresh checkout each process would do it for itself.

    Only pytest can, since it rewrites their assertions.
    """
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0"]
    others = ["tests", "--ignore", ENGINE_TESTS, "--ignore", BENCH_TESTS]
    running = [
        subprocess.Popen([*command, *half], cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL)
        for half in ([ENGINE_TESTS], others)
    ]
    for process in running:
        process.wait()  # the test run itself reports collection errors


def environment() -> dict[str, str]:
    """Return the own environment; hundreds of processes import the same modules, and each would
    compile them anew without bytecode.
    """
    return {name: at for name, at in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Part:
    """A pytest process under way; the output of all but the first is shown once they are due."""

    def __init__(self, folder: Path, number: int, arguments: list[str]) -> None:
        self._results = folder / f"results-{number}.xml"
        self._output = folder / f"output-{number}" if number else None
        command = [sys.executable, "-m", "pytest", *arguments, f"--junit-xml={self._results}"]
        with open(self._output or os.devnull, "wb") as output:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment(), stdout=output if self._output else None
            )

    def finish(self) -> tuple[int, Counter[str]]:
        """Wait for the process, print what it printed, and return its status and counts."""
        while True:
            try:
                status = self._process.wait()
                break
            except KeyboardInterrupt:
                continue  # pytest receives the signal, too, and reports before it exits
        if self._output:
            sys.stdout.flush()
            sys.stdout.buffer.write(self._output.read_bytes())
            sys.stdout.flush()
        return status, read_counts(self._results)


def read_counts(results: Path) -> Counter[str]:
    """Return the counts reported by a pytest process; empty if it ended before reporting."""
    counts: Counter[str] = Counter()
    if results.exists():
        for suite in ElementTree.parse(results).iter("testsuite"):
            failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped", 0))
            counts["failed"] += failed
            counts["skipped"] += skipped
            counts["passed"] += int(suite.get("tests", 0)) - failed - skipped
    return counts


def describe(counts: Counter[str]) -> str:
    text = f"{counts['passed']} passed, {counts['failed']} failed"
    return f"{text}, {counts['skipped']} skipped" if counts["skipped"] else text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
