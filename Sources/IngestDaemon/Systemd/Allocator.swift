import CSystemd

/// How glibc (mallopt(3)) and the kernel manage memory.
enum Allocator {
    /// In bytes: more than all but images and large batches need in one piece.
    private static let largeBlock: Int32 = 256 << 10

    /// From now on each large block goes back to the kernel when it is freed. By itself glibc would keep the room of an
    /// image, several times over, for the next one.
    static func giveBackLargeBlocks() {
        _ = mallopt(M_MMAP_THRESHOLD, largeBlock)
    }

    /// Gives all pages of freed memory back to the kernel. By itself glibc keeps those between blocks that are in use: of
    /// 30 MB after a burst of readings 22.
    static func giveBackFreedMemory() {
        _ = malloc_trim(0)
    }

    /// From now on memory comes in pages of 4 KiB. Where the kernel is set to give huge ones (Debian is), a thread's stack
    /// or a part of the heap takes 2 MiB at the first touch, a third of what the whole process has otherwise.
    static func useSmallPages() {
        // Refused, it leaves all as it was, and takes more memory.
        _ = CSystemd_use_small_pages()
    }
}
