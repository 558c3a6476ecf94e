import CSystemd

/// How glibc manages memory (mallopt(3)).
enum Allocator {
    /// In bytes: more than all but images and large batches need in one piece.
    private static let largeBlock: Int32 = 256 << 10

    /// From now on each large block goes back to the kernel when it is freed. By itself glibc would keep the room of an
    /// image, several times over, for the next one.
    static func giveBackLargeBlocks() {
        _ = mallopt(M_MMAP_THRESHOLD, largeBlock)
    }
}
