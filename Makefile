# The front door. Everything it does is cmake, ctest or a script in scripts/.
.POSIX:
.PHONY: demo test test-tiles test-models wheel web site bench-web stories screenshots bench-studio test-sanitize test-sanitize-rooms test-sanitize-python differential fuzz fuzz-long fuzz-studio ceilings bench bench-decode bench-peers bench-python models \
        lint format clean

# How long test-sanitize-rooms may take.
MINUTES = 60
# Of what `make wheel` builds wheels for: "python3.11 python3.12".
INTERPRETERS = python3
# What exercises the kernels of a target.
TILE_TESTS = kernels attention cache cases fuzz
QKV = build/release/apps/cli/qkv
# Why the command has no pages; empty where it has them.
WITHOUT_PAGES = build/release/apps/studio/pages/why
PYTHON = $(CURDIR)/build/python-environment/bin/python

demo:
	scripts/install-packages build
	scripts/install-packages studio || echo "Without Node.js the command has no pages; all else is built."
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=OFF -D QKV_TARGETS=native
	scripts/build-aloud build/release --target qkv_cli
	mkdir -p build/demo
	$(QKV) explain "The cat sat down" --causal --query cat
	$(QKV) explain "The cat sat down" --causal --quiet --svg build/demo/svg --png build/demo/png
	$(QKV) generate gpt "The cat sat down" --tokens 12 --repetition-penalty 1.3
	@echo
	@echo "Its pictures: build/demo/svg, build/demo/png"
	@if [ -s $(WITHOUT_PAGES) ]; then echo "The pages in the browser are left out: $$(cat $(WITHOUT_PAGES))"; else \
	  $(QKV) explain "The cat sat down" --causal --query cat --quiet --html build/demo/explain.html && \
	  echo "The same in the browser, step by step, every number with its sum: build/demo/explain.html (open it)" && \
	  echo "The rest, to be edited, models and long texts too: $(QKV) view"; fi

test:
	scripts/install-packages build test python studio
	scripts/onnx-vectors
	scripts/environment build/python-environment python/requirements.txt
	scripts/quietly cmake --preset release -D QKV_TESTS=ON -D QKV_BENCH=OFF -D QKV_PYTHON=ON -D Python_EXECUTABLE=$(PYTHON)
	scripts/build-aloud build/release
	scripts/run-tests release

test-tiles:
	scripts/install-packages build test
	scripts/quietly cmake --preset tiles
	cmake --build --preset tiles --target $(TILE_TESTS:%=test_%)
	for tests in $(TILE_TESTS); do build/tiles/tests/$$tests/test_$$tests --gtest_brief=1 || exit 1; done

wheel:
	scripts/install-packages build python studio
	scripts/wheel build/wheel $(INTERPRETERS)

test-models:
	scripts/install-packages build test
	scripts/models
	scripts/quietly cmake --preset release -D QKV_TESTS=ON -D QKV_BENCH=OFF
	cmake --build --preset release --target test_models qkv_cli
	build/release/tests/models/test_models --gtest_brief=1
	! test -x build/models-environment/bin/python || build/models-environment/bin/python tests/models/check_tokenizer_folders.py $(QKV)
	! test -x build/models-environment/bin/python || build/models-environment/bin/python tests/models/check_converted.py $(QKV) build/models
	! test -x build/models-environment/bin/python || build/models-environment/bin/python tests/models/check_quantised.py $(QKV) build/models

web:
	scripts/install-packages build web
	scripts/quietly cmake --preset web
	cmake --build --preset web --target qkv_web qkv_web_quantised

bench-web: web
	scripts/install-packages studio
	cmake --build --preset web --target qkv_web_timing
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=OFF
	cmake --build --preset release --target qkv_cli
	scripts/bench-web.mjs build/release/apps/cli/qkv $(addprefix build/web/apps/studio/wasm/,timing.wasm quantised.wasm)

site: web
	scripts/install-packages studio
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=OFF
	cmake --build --preset release --target studio_web
	scripts/site build/release/apps/studio/pages build/web/apps/studio/wasm/qkv.wasm models build/site

stories:
	scripts/install-packages build test studio stories
	scripts/quietly cmake --preset release -D QKV_TESTS=ON -D QKV_BENCH=OFF
	cmake --build --preset release --target qkv_cli
	STUDIO_SITE=$$([ ! -e build/site/index.html ] || echo $(CURDIR)/build/site) \
	  scripts/with-studio $(QKV) build/release/apps/studio/web stories

screenshots:
	scripts/install-packages build test studio stories
	scripts/quietly cmake --preset release -D QKV_TESTS=ON -D QKV_BENCH=OFF
	cmake --build --preset release --target qkv_cli
	PICTURES=$(CURDIR)/build/screenshots scripts/with-studio $(QKV) build/release/apps/studio/web pictures

bench-studio:
	scripts/install-packages build bench studio stories
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=OFF
	cmake --build --preset release --target qkv_cli
	scripts/bench-studio $(LENGTHS)

test-sanitize:
	scripts/install-packages build test sanitize
	scripts/onnx-vectors
	scripts/quietly cmake --preset sanitize
	cmake --build --preset sanitize
	ctest --preset sanitize

test-sanitize-rooms:
	scripts/install-packages build test sanitize
	scripts/onnx-vectors
	scripts/quietly cmake --preset sanitize
	scripts/test-rooms sanitize $(MINUTES) $(ROOMS)

test-sanitize-python:
	scripts/install-packages build test python sanitize
	scripts/environment build/python-environment python/requirements.txt
	scripts/quietly cmake --preset sanitize-python -D Python_EXECUTABLE=$(PYTHON)
	cmake --build --preset sanitize-python
	scripts/test-sanitize-python $(PYTHON)

fuzz:
	scripts/install-packages build sanitize
	scripts/quietly cmake --preset fuzz
	cmake --build --preset fuzz
	scripts/fuzz build/fuzz

fuzz-long:
	scripts/install-packages build test
	scripts/quietly cmake --preset release -D QKV_TESTS=ON -D QKV_BENCH=OFF
	cmake --build --preset release --target test_fuzz
	scripts/fuzz-long build/release

fuzz-studio:
	scripts/install-packages build test sanitize
	scripts/quietly cmake --preset sanitize
	cmake --build --preset sanitize --target test_fuzz_studio
	QKV_FUZZ_QUESTIONS=$${QKV_FUZZ_QUESTIONS:-100000} QKV_FUZZ_PATIENCE=$${QKV_FUZZ_PATIENCE:-2000} build/sanitize/tests/fuzz/test_fuzz_studio

differential:
	scripts/install-packages build differential
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=OFF
	cmake --build --preset release --target qkv_cli
	scripts/differential $(QKV) $(OPTIONS)

ceilings:
	scripts/install-packages build bench
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=ON
	cmake --build --preset release --target ceilings
	build/release/bench/ceilings/ceilings --json build/ceilings.json

bench: ceilings
	cmake --build --preset release --target call_bench
	scripts/bench build/release build/ceilings.json

bench-decode:
	scripts/install-packages build bench
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=ON
	cmake --build --preset release --target decode_bench
	build/release/bench/decode/decode_bench $(OPTIONS)

bench-peers:
	scripts/install-packages build bench
	scripts/bench-peers $(OPTIONS)

bench-python:
	scripts/install-packages build python
	scripts/bench-python $(OPTIONS)

models:
	scripts/install-packages build models
	scripts/quietly cmake --preset release -D QKV_TESTS=OFF -D QKV_BENCH=OFF
	cmake --build --preset release --target qkv_cli
	scripts/train_models.py $(TASKS)

lint:
	scripts/install-packages build test python bench sanitize lint
	scripts/environment build/lint-environment scripts/lint-requirements.txt
	scripts/environment build/python-environment python/requirements.txt
	scripts/quietly cmake --preset lint -D QKV_PYTHON=ON -D Python_EXECUTABLE=$(PYTHON)
	cmake --build build/lint --target qkv_commit
	scripts/lint build/lint $(OPTIONS)

format:
	scripts/install-packages lint
	scripts/environment build/lint-environment scripts/lint-requirements.txt
	git ls-files '*.h' '*.cc' | xargs clang-format-19 -i
	build/lint-environment/bin/ruff format --no-cache python

clean:
	rm -rf build
