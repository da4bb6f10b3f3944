# Short names for what is done often; CMake and its presets do the work.
.DEFAULT_GOAL := help
.PHONY: help run build test bench pace siconos soak exact soak-realtime format lint sanitize sanitize-threads fuzz kills docs package package-test clean setup setup-dev

RELEASE := build/release
SALTUS := $(RELEASE)/saltus
EXAMPLE := Saltus.Examples.NAG
JOBS ?= 2
# Seeds of each of the five classes.
SEEDS ?= 2000
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cc')

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build  ## install what is missing, build, simulate the gearbox and write its report
	@mkdir -p results
	@$(SALTUS) simulate $(EXAMPLE) --output results --report results/$(EXAMPLE).html
	@echo "The report is results/$(EXAMPLE).html"

build: $(RELEASE)/build.ninja  ## build the program: build/release/saltus
	@cmake --build --preset release -j $(JOBS) --target saltus saltus-studio

test: $(RELEASE)/build.ninja  ## build everything and run all tests
	@cmake --build --preset release -j $(JOBS)
	@ctest --preset release -j $(JOBS)

bench: $(RELEASE)/build.ninja | setup-dev  ## run the benchmarks; results in results/benchmarks
	@cmake --build --preset release -j $(JOBS)
	@scripts/bench $(RELEASE)/benchmarks results/benchmarks

soak: $(RELEASE)/build.ninja  ## run 10,000 random drivetrains against their references; failing models in results/soak
	@cmake --build --preset release -j $(JOBS) --target saltus_oracle
	@mkdir -p results/soak
	@$(RELEASE)/tests/oracle/saltus_oracle --seeds 0:$(SEEDS) --jobs $(JOBS) --dump results/soak

soak-realtime: $(RELEASE)/build.ninja  ## run 10,000 random drivetrains with fixed steps against their references; others in results/soak-realtime
	@cmake --build --preset release -j $(JOBS) --target saltus_realtime_soak
	@$(RELEASE)/tests/oracle/saltus_realtime_soak --seeds 0:$(SEEDS) --jobs $(JOBS) --dump results/soak-realtime

exact: build  ## run 2,800 random models with known solutions in every method and at three tolerances
	@tests/exact/exact_solutions.py $(SALTUS) --seeds 0:400

pace: build  ## run two drivetrains by the clock at 1 kHz for a minute each; fails if a sample takes longer than its period
	@scripts/pace $(SALTUS)

siconos: build  ## compare with Siconos (Debian package python3-siconos) on three nonsmooth systems
	@benchmarks/siconos/compare.py $(SALTUS)

format:  ## lay out all sources with clang-format
	@scripts/setup --dev
	@clang-format -i $(SOURCES)

lint: $(RELEASE)/build.ninja | setup-dev  ## look for defects with clang-tidy
	@scripts/lint $(RELEASE) $(JOBS)

sanitize: | setup-dev  ## build with the address and undefined-behaviour sanitizers and run the tests
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS) -LE slow
	@SALTUS_MACHINE_CODE=off ctest --preset asan -j $(JOBS) -LE slow

sanitize-threads: | setup-dev  ## build what threads share with ThreadSanitizer and run its test
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan -j $(JOBS) --target compiled_model_test
	@build/tsan/tests/compiled_model_test

fuzz: | setup-dev  ## run mutated models under the sanitizers for FUZZ_MINUTES (60)
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS) --target fuzz

kills: build  ## end 50 long runs by kill -9 at random moments and read what they left
	@tests/faults/system.sh $(SALTUS) 50

docs: | setup-dev  ## build the documentation as a site: build/site/index.html
	@mkdocs build --quiet
	@echo "The site is build/site/index.html"

package: $(RELEASE)/build.ninja  ## make a Debian package and an archive: build/package
	@cmake --build --preset release -j $(JOBS)
	@cd $(RELEASE) && cpack -B ../package >/dev/null
	@ls build/package/*.deb build/package/*.tar.gz

package-test: $(RELEASE)/build.ninja  ## install the package in a fresh Debian 12 (debootstrap, root) and run the gearbox
	@cmake --build --preset release -j $(JOBS)
	@scripts/package_test $(RELEASE)

clean:  ## remove what was built and simulated
	@rm -rf build results

setup:
	@scripts/setup

setup-dev:
	@scripts/setup --dev

# Ninja itself configures again when a CMakeLists.txt or the set of sources changes.
$(RELEASE)/build.ninja: CMakePresets.json | setup
	@cmake --preset release
	@touch $@
