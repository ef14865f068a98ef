# For GNU make 3.81 (as macOS has it) and newer. `make` alone lists what there is.

PY = .venv/bin/python
UV_COMPILE = uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" --quiet $(LOCK_FLAGS)

.PHONY: help install test-environment run test test-fast test-bench check fuzz docs bench bench-quick format lock clean

help:
	@echo "make run      serve Plumbline on http://127.0.0.1:8000 (HOST=… PORT=… change it)"
	@echo "make install  make .venv from requirements.lock (PYTHON=… chooses the interpreter)"
	@echo "make test     run the tests of the product (ARGS=… for pytest)"
	@echo "make test-fast  only what needs no browser, no service and no other process"
	@echo "make test-bench  run the tests of the benchmarks, among them kills and outages"
	@echo "make fuzz     new generated requests against the API's description, several minutes"
	@echo "make check    lint, formatting, types, templates, imports, dependencies, migrations"
	@echo "make docs     build the documentation site into site/"
	@echo "make bench    measure and write docs/benchmarks.md"
	@echo "              (SUITE=engine, ablation, speed, data, documentation, retrieval, dashboard)"
	@echo "              SUITE=scale prints figures of several processes (ARGS=--help)"
	@echo "              SUITE=prompts compares two versions of a prompt (ARGS='TASK FILE.md')"
	@echo "make bench-quick  a short measurement that asserts ratios and counts"
	@echo "make format   put code and templates into the house format"
	@echo "make lock     write the lock files from pyproject.toml (LOCK_FLAGS=--upgrade for newer versions)"
	@echo "make clean    remove .venv and caches; what Plumbline keeps in var/ stays"

install:
	@PYTHON='$(PYTHON)' sh scripts/environment.sh requirements.lock

test-environment:
	@PYTHON='$(PYTHON)' sh scripts/environment.sh requirements-dev.lock

# The command reads HOST and PORT itself; make hands on what it was given.
run: install
	@exec $(PY) manage.py serve

test: test-environment
	@$(PY) scripts/run_tests.py $(ARGS)

test-fast: test-environment
	@$(PY) scripts/run_tests.py --fast $(ARGS)

test-bench: test-environment
	@$(PY) scripts/run_tests.py --bench $(ARGS)

fuzz: test-environment
	@FUZZ=1 $(PY) -m pytest -q tests/dashboard/api/test_description.py $(ARGS)

check: test-environment
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	find templates -name '*.html' -exec .venv/bin/djade --target-version 5.2 --check {} +
	.venv/bin/lint-imports
	.venv/bin/deptry config dashboard plumbline research
	.venv/bin/deptry bench scripts tests --ignore DEP002,DEP004
	$(PY) manage.py makemigrations --check --dry-run

docs: test-environment
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

# DATA names the files of SUITE=data, ARGS has the options of SUITE=scale and SUITE=prompts.
bench: test-environment
	@$(PY) -m bench $(or $(SUITE),engine) $(DATA) $(ARGS)

bench-quick: test-environment
	@$(PY) -m bench quick

format: test-environment
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	find templates -name '*.html' -exec .venv/bin/djade --target-version 5.2 {} +

# The locks hold for Linux and macOS and every Python that pyproject.toml allows.
lock: test-environment
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(PY) -m venv "$$folder" && "$$folder/bin/python" -m pip install --quiet uv && \
	"$$folder/bin/"$(UV_COMPILE) --output-file requirements.lock && \
	"$$folder/bin/"$(UV_COMPILE) --group dev --constraint requirements.lock \
		--output-file requirements-dev.lock

clean:
	rm -rf .venv site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
