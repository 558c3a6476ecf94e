// Runs libFuzzer on the target that the variable FUZZ_TARGET names; without one it lists them, each with the longest
// input in bytes. Not an argument: libFuzzer starts itself anew with its own.

import CLibFuzzer
import Glibc

guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }) else {
    for target in Target.all { print(target.name, target.longest) }
    exit(EX_OK)
}
guard let named = Target.all.first(where: { $0.name == name }) else {
    print("FuzzPeers: no target \(name)")
    exit(EX_USAGE)
}
/// A global, because a C function captures nothing.
let check = named.check
var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { start, count in
        check(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    })
