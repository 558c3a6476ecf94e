import FoundationEssentials

/// Tells of a kernel with a defect once in a boot, however often the service starts.
struct KernelNotice {
    /// Holds the name of the last boot in which it was told.
    let path: String
    let bootID: String

    init(directory: String, bootID: String) {
        path = directory + "/kernel-defect"
        self.bootID = bootID
    }

    func tell(of defect: KernelDefect, to events: EventLog) {
        if let told = try? String(contentsOfFile: path, encoding: .utf8), told == bootID { return }
        events.emit(.kernelDefect(error: defect.message))
        // On a full disk it is told again after the next start.
        try? bootID.write(toFile: path, atomically: true, encoding: .utf8)
    }
}
