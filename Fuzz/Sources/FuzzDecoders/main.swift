// Runs libFuzzer on the decoder that the variable FUZZ_DECODER names; without one it lists the decoders. Not an argument:
// libFuzzer starts itself anew with its own.

import CLibFuzzer
import Glibc
import IngestKit

guard let name = getenv("FUZZ_DECODER").map({ String(cString: $0) }) else {
    for decoder in Decoder.all { print(decoder.name) }
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
