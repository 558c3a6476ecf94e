// The entry of libFuzzer, which comes with the Swift toolchain's clang and has no header there.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with its own command line. Returns when all runs are done; a finding ends the process.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test_one)(const uint8_t *bytes, size_t count));
