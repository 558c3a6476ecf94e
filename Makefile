# Everything that a fresh Debian 12 with the Swift toolchain lacks is installed by the targets themselves.

.PHONY: all build demo test test-unit oracles webhook fhir delivery mqtt import disk kills lab lab-package cuts lint fuzz \
	prove-import prove-kills prove-queue prove-disk prove-power-cuts \
	bench bench-decode release release-simulated deb packages clean

all: build

packages:
	tools/install-packages

# One debug build serves the demo, the tests and the lab.
build: packages
	swift build --build-tests

demo: packages
	swift build
	tools/demo

test: build
	tools/test

test-unit: build
	tools/test unit

oracles: packages
	swift build
	tools/test oracles

webhook: packages
	swift build
	tools/test webhook

import: packages
	swift build
	tools/test import

fhir: packages
	swift build
	tools/test fhir

delivery: packages
	swift build
	tools/test delivery

mqtt: packages
	swift build
	tools/test mqtt

disk: packages
	swift build
	tools/test disk

kills: packages
	swift build
	tools/test kills

# Kills the gateway KILLS times; Tests/System/Reliability/README.md.
prove-kills: packages
	swift build
	KILLS=$${KILLS:-1000} Tests/System/Reliability/run

# An Apple Health export whose document has BYTES bytes, by the release build; docs/import.md.
prove-import: release-simulated
	INGESTD=$(CURDIR)/ingestd BYTES=$${BYTES:-2000000000} Tests/System/Import/run large

# The queue against a model of it; `make test` takes 1,500 steps. QUEUE_SEED repeats a run.
prove-queue:
	QUEUE_STEPS=$${QUEUE_STEPS:-100000} swift test --disable-xctest --filter QueueModelTests

# The queue on a disk that fails at each write, sync and truncation in turn, and with each page damaged in turn.
prove-disk:
	PROOF=whole swift test --disable-xctest --filter 'FaultyDiskTests|MendingTests'

# All cases of the lab; `make test` leaves out those of which the unit tests show the same.
lab: packages
	swift build
	Tests/System/Lab/run

# The lab's case of the package: installed, upgraded, removed, purged.
lab-package: deb
	Tests/System/Lab/run package-installed-upgraded-removed

cuts: packages
	swift build
	tools/test cuts

# The proof of docs/reliability.md: half an hour or more. SEED draws the same moments again.
prove-power-cuts: CUTS ?= 100
prove-power-cuts: GUESTS ?= 2
prove-power-cuts: packages
	swift build
	CUTS=$(CUTS) GUESTS=$(GUESTS) SEED=$(SEED) Tests/System/PowerCuts/run

lint:
	tools/lint

# FUZZ_RUNS inputs to each decoder, and to what each other peer reaches; docs/fuzzing.md.
fuzz: packages
	Fuzz/run

# The gateway beside what else does the same; docs/performance.md.
bench: release-simulated
	Benchmarks/run

# How many payloads a second `decode -` takes, beside the decoders that others wrote; docs/fuzzing.md.
bench-decode: release
	INGESTD=$(CURDIR)/ingestd Tests/System/Oracles/run --speed

# What a box runs: the Swift runtime inside, no debug information.
release: packages
	swift build --configuration release --static-swift-stdlib --product ingestd
	strip --strip-unneeded -o ingestd "$$(swift build --configuration release --show-bin-path)/ingestd"

# The same on simulated peripherals, for benchmarks and proofs; not installed.
release-simulated: release
	swift build --configuration release --static-swift-stdlib --product ingestd-simulated
	strip --strip-unneeded -o ingestd-simulated "$$(swift build --configuration release --show-bin-path)/ingestd-simulated"

# ingestd_VERSION_ARCH.deb. The manual pages come from the debug build.
deb: release
	swift build
	tools/make-deb

clean:
	rm -rf .build ingestd ingestd-simulated ingestd_*.deb
