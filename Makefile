# Every task of the project; CI calls the same targets.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
unexport PYTHONDONTWRITEBYTECODE  # hundreds of processes of the tests load the same modules: compiled once

# The package alone, which is all that the demo needs.
$(CORE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	$(BIN)/python compile_kernels.py  # once, so that no first command waits for it
	touch $(CORE)

# All that the tools need, as it was locked for CI, each file by its hash; what `install` adds is then there already.
.PHONY: locked lock sbom
locked: ## set up .venv with the versions of .ci/requirements.lock, by their hashes (Linux, Python 3.11)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-deps --requirement .ci/requirements.lock

lock: $(READY) ## write .ci/requirements.lock anew, with the newest versions that are allowed
	$(PIP) uv
	$(BIN)/uv pip compile --quiet pyproject.toml --extra dev --upgrade --generate-hashes --no-emit-index-url --no-annotate \
		--python-version 3.11 --custom-compile-command "make lock" --output-file .ci/requirements.lock

sbom: $(READY) ## list what an installation is made of: build/sbom.json (CycloneDX) and LICENCES.md
	$(BIN)/python .ci/materials.py build/sbom.json LICENCES.md

# And the tools that check it.
$(READY): $(CORE)
	$(PIP) --editable ".[dev]" --editable contest
	touch $(READY)

.PHONY: help install demo test nightly check bench contest accuracy references docs wheel image faults fuzz mutants

help: ## list every task
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

install: $(READY) ## set up .venv with the package and its tools

demo: $(CORE) ## simulate a small town, synthesise it, say where the result is
	$(BIN)/understudy demo

test nightly: export OPENBLAS_NUM_THREADS = 1  # three processes share two cores: more threads wait by spinning
PROCESSES ?= 3
SHARED = --numprocesses $(PROCESSES) --dist loadgroup --no-loadscope-reorder  # in the order of tests/conftest.py
test: $(READY) ## run every test
	$(BIN)/python -m pytest $(SHARED)

nightly: $(READY) ## run every test on fresh random numbers, and what takes too long for every change
	UNDERSTUDY_NIGHTLY=1 $(BIN)/python -m pytest $(SHARED)

check: $(READY) ## lint, format, types, the plan of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/house

faults: $(READY) ## kill runs at 200 random instants, fill disks, crowd a ledger; print how often promises held
	$(BIN)/python tests/faults/run_faults.py --kills 200

fuzz: $(READY) ## open damaged files, releases, ledgers, schemas and addresses for ten minutes (SEED=1 for others)
	$(BIN)/python tests/fuzz/run_fuzz.py --seconds 600 --seed $(or $(SEED),0)

mutants: $(READY) ## change the product in 400 small ways, one at a time; say which no test sees (resumes)
	$(BIN)/python tests/mutation --sample 400

bench: $(READY) ## print every benchmark, rivals in the same run
	$(BIN)/python -m benchmarks

contest: $(READY) ## reproduce the paper's results section (two hours; resumes where it stopped)
	$(PIP) --editable "contest[gan]"
	$(BIN)/python -m benchmarks.contest

accuracy: $(READY) ## measure errors on every data set and write docs/accuracy.md (an hour; resumes where it stopped)
	$(BIN)/python -m benchmarks.accuracy

references: $(READY) ## regenerate the references of the CLI and of the Python API in docs/, and the JSON Schema of schema files
	$(BIN)/python docs/reference.py > docs/cli.tmp && mv docs/cli.tmp docs/cli.md
	$(BIN)/python docs/api_reference.py > docs/api.tmp && mv docs/api.tmp docs/api.md
	$(BIN)/understudy export --as json-schema --overwrite -o src/understudy/exchange/understudy-schema.json

docs: references ## build the site into build/site: every notebook is run, every link is checked
	$(BIN)/python docs/site

wheel: $(READY) ## build the wheel into dist/, and run the demo from it in a fresh environment
	$(PIP) hatchling
	rm -rf dist build/fresh
	$(BIN)/python -m hatchling build --target wheel --target sdist --directory dist
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/fresh/bin/understudy demo --rows 3000 --output build/fresh/demo

image: ## build the container, and run the demo in it
	docker build --tag understudy .
	docker run --rm understudy demo --rows 3000
