import CSystemd

/// What a crash leaves of the process' memory, which holds tokens and measured values: nothing.
enum CoreDumps {
    /// From now on a crash, or an abort by the watchdog, makes no core, whatever the limit and kernel.core_pattern are
    /// (core(5)), and no process of the same user can read this one's memory. Nor does Swift's runtime start its
    /// backtracer, which on Linux it does for a crash where it finds one, and which prints memory.
    ///
    /// A program that is executed starts without it. So does a process that takes on another user: the kernel
    /// then goes back to fs.suid_dumpable (proc(5)).
    static func forbid() {
        // Refused, the unit's LimitCORE=0 is left.
        _ = CSystemd_forbid_dumps()
    }
}
