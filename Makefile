# Everything that a fresh Debian 12 with the Swift toolchain lacks is installed by the targets themselves.

.PHONY: all build demo test prove release-check test-unit oracles webhook fhir delivery mqtt import disk kills cuts \
	prove-import prove-kills prove-queue prove-disk prove-years prove-lab prove-power-cuts prove-fleet fleet lab lab-package lint fuzz \
	bench bench-quick bench-decode release release-simulated deb sbom packages clean

all: build

packages:
	tools/install-packages

# One debug build serves the demo, the tests and the lab.
build: packages
	swift build --build-tests --explicit-target-dependency-import-check error
	INGESTD_FUZZ=check swift build --target FuzzPeers
	INGESTD_FUZZ=check swift build --target FuzzDecoders

demo: packages
	swift build
	tools/demo

# For every change; at most an hour on two idle cores.
test: build
	tools/test

# What is too long for every change, whole: the parts below whose names begin with prove, fuzz and bench.
prove: build release-simulated deb
	tools/test prove

# The package: looked at by lintian; installed, upgraded, removed and purged in the lab on Debian 13 and 12; upgraded from
# the package of an earlier commit, or from PREVIOUS=ingestd_OLD.deb, on a box in use; and made twice from nothing, which
# has to give the same bytes.
release-check: deb
	tools/test release-check

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
	tools/test prove-kills

# An Apple Health export whose document has BYTES bytes, by the release build; docs/import.md.
prove-import: release-simulated
	tools/test prove-import

# The queue against a model of it; `make test` takes 1,500 steps. QUEUE_STEPS is their number, QUEUE_SEED repeats a run.
prove-queue: packages
	tools/test prove-queue

# The queue on a disk that fails at each write, sync and truncation in turn, and with each page damaged in turn.
prove-disk: packages
	tools/test prove-disk

# What years bring, by the release build: readings, links, reloads and clients without number, a million that wait, dates
# far ahead. Tests/System/Years/run says how many of each.
prove-years: release-simulated
	swift build
	tools/test prove-years

# All cases of the lab on Debian 13 and Debian 12, the package's if there is one, and some on a kernel that crashes.
lab prove-lab: packages
	swift build
	tools/test prove-lab

# The lab's cases of the package: installed, upgraded, removed, purged; upgraded from an earlier version.
lab-package: deb
	tools/test lab-package

cuts: packages
	swift build
	tools/test cuts

# The proof of docs/reliability.md: half an hour or more. CUTS and GUESTS are numbers, SEED draws the same moments
# again.
prove-power-cuts: packages
	swift build
	tools/test prove-power-cuts

# Three RabbitMQ nodes behind a balancer, 20 gateways and 2,000 connections: docs/fleet.md. GATEWAYS, CONNECTIONS and
# ACKNOWLEDGED are other numbers; Tests/System/Fleet/README.md.
fleet prove-fleet: packages
	swift build
	tools/test prove-fleet

lint:
	tools/lint

# FUZZ_RUNS inputs to each decoder, and to what each other peer reaches; docs/fuzzing.md.
fuzz: packages
	Fuzz/run

# The instructions that the hot paths take, counted by callgrind; docs/performance.md.
bench-quick: packages
	tools/install-packages valgrind python3
	Benchmarks/quick


# The gateway beside what else does the same; docs/performance.md.
bench: release-simulated
	Benchmarks/run

# How many payloads a second `decode -` takes, beside the decoders that others wrote; docs/fuzzing.md.
bench-decode: release
	INGESTD=$(CURDIR)/ingestd Tests/System/Oracles/run --speed

# The toolchain's own. Debian 12's strip drops the segment that makes the tables of the linker read-only (GNU_RELRO).
objcopy := $(firstword $(wildcard $(dir $(realpath $(shell command -v swift)))llvm-objcopy) llvm-objcopy)

# What a box runs: the Swift runtime inside, no debug information. The two sections hold hashes over that, which depend on
# the times of files; without them two builds have the same bytes.
release: packages
	swift build --configuration release --static-swift-stdlib --product ingestd
	$(objcopy) --strip-unneeded --remove-section=.swift_modhash --remove-section=.note.gnu.build-id "$$(swift build --configuration release --show-bin-path)/ingestd" ingestd

# The same on simulated peripherals, for benchmarks and proofs; not installed.
release-simulated: release
	swift build --configuration release --static-swift-stdlib --product ingestd-simulated
	$(objcopy) --strip-unneeded "$$(swift build --configuration release --show-bin-path)/ingestd-simulated" ingestd-simulated

# ingestd_VERSION_ARCH.deb. The manual pages come from the debug build.
deb: release
	swift build
	tools/make-deb

# What the binary and the package are made of, as a CycloneDX list; docs/dependencies.md.
sbom: deb
	tools/sbom

clean:
	rm -rf .build ingestd ingestd-simulated ingestd_*.deb ingestd_*.cdx.json
