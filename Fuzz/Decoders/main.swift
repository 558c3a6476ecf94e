// Runs libFuzzer on the decoder that the variable FUZZ_TARGET names; without one it lists the decoders, each with the
// longest input in bytes. Not an argument: libFuzzer starts itself anew with its own.

import CLibFuzzer
import Glibc

guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }) else {
    // The longest payloads that are common have about 30 bytes; longer ones only repeat parts.
    for decoder in Decoder.all { print(decoder.name, decoder.name.hasPrefix("advertisement") ? 128 : 64) }
    exit(EX_OK)
}
guard let named = Decoder.all.first(where: { $0.name == name }) else {
    print("FuzzDecoders: no decoder \(name)")
    exit(EX_USAGE)
}
/// A global, because a C function captures nothing.
let decoder = named
var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { start, count in
        decoder.check(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    })
