# Two commands: `make demo` and `make test`. Each makes the environment it needs under .venv: with uv when it is
# installed, else with venv and pip. PYTHON=/path/to/python chooses the interpreter (3.11 or newer).

BIN := .venv/bin
RUN_READY := .venv/.run-ready
DEV_READY := .venv/.dev-ready
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python

.DEFAULT_GOAL := help
.PHONY: help demo test lint types layers fast slow network format generate clean

help:
	@echo "make demo      plant a defect in a small service and see which oracle catches it"
	@echo "make test      every check: format, lint, types, layers, tests, coverage"
	@echo "make lint, types, layers, fast, slow, network    one of those checks"
	@echo "make format    rewrite the sources in the project's format"
	@echo "make generate  rewrite every generated file: schemas, reference pages, examples"
	@echo "make clean     remove the environment and every cache"

demo: $(RUN_READY)
	@$(BIN)/python examples/notes-api/demo.py

test: lint types layers fast slow network

lint: $(DEV_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEV_READY)
	$(BIN)/basedpyright

layers: $(DEV_READY)
	$(BIN)/lint-imports --no-logo

fast: $(DEV_READY)
	$(BIN)/python -m pytest -m "not slow and not network" -n 2 --dist worksteal --cov --cov-report=term

slow: $(DEV_READY)
	$(BIN)/python -m pytest -m "slow and not network" -n 2 --dist worksteal --timeout 1800

# Drives published servers, installed into an environment of their own; what cannot be installed is skipped, loudly.
network: $(DEV_READY)
	@sh tests/support/install_servers.sh "$(CURDIR)/$(BIN)/python" || echo "some network tests will be skipped"
	$(BIN)/python -m pytest -m network

format: $(DEV_READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(RUN_READY)
	$(BIN)/python -m eval_quality.schemas
	$(BIN)/python -m eval_quality.app.behavior.publish
	$(BIN)/python -m eval_quality.cli.reference > docs/reference/cli.md
	$(BIN)/python -m eval_quality.core.explain.coverage_table > docs/reference/coverage.md
	$(BIN)/python -m eval_quality.core.why.tables > docs/reference/decisions.md
	$(BIN)/python examples/release-notes-agent/capture.py
	$(BIN)/python examples/checklist-skill/capture.py
	$(BIN)/python examples/selection-suite/generate.py
	$(BIN)/python examples/selection-suite/score.py --write
	$(BIN)/python -m eval_quality.run.experiment.reference > docs/reference/experiment.md
	$(BIN)/python examples/notes-api/capture.py
	$(BIN)/python examples/notes-api/chain.py

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache .coverage build dist

.venv/bin/python:
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet $(if $(PYTHON),--python "$(PYTHON)",--python ">=3.11") .venv; \
	else \
		for name in $(if $(PYTHON),"$(PYTHON)",$(CANDIDATES)); do \
			if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
				exec "$$name" -m venv .venv; \
			fi; \
		done; \
		echo "Python 3.11 or newer is needed (make PYTHON=/path/to/python ...)" >&2; exit 1; \
	fi

$(RUN_READY): pyproject.toml | .venv/bin/python
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python .venv/bin/python -e .; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .; \
	fi
	@touch $@

# Dependency groups need pip 25.1.
$(DEV_READY): pyproject.toml | .venv/bin/python
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python .venv/bin/python -e . --group dev; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1" && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . --group dev; \
	fi
	@touch $(RUN_READY) $@
