import CSystemd

/// The pages of the program's file, and of its libraries', that are mapped.
enum ProgramPages {
    /// Takes the program's code and constants out of its memory. Most of what is there was for the start alone, and the
    /// kernel had mapped 64 KiB around each page that was touched; what is needed again comes back, as a rule without
    /// the disk.
    static func unmap() {
        CSystemd_unmap_unwritable()
    }
}
