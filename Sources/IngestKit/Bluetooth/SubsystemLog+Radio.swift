import Logging

extension SubsystemLog {
    /// The kernel drops no adverts of devices that are not listed.
    package func takesEveryAdvert(_ reason: String) {
        self[.bluetooth].debug("the kernel does not sort out adverts, all come here: \(reason)")
    }
}
