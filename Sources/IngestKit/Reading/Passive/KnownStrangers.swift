/// Unpinned devices that have given a record before, the newest. Anybody can invent addresses; whoever has given a
/// reading gets every second link that unpinned devices get.
struct KnownStrangers: Sendable {
    /// As many as the queue remembers devices.
    static let most = 1_024

    private var devices: Set<DeviceAddress> = []
    /// The one that was noted first comes first.
    private var order: [DeviceAddress] = []
    /// Whether the next link is for one of them.
    private var areNext = true

    func contains(_ device: DeviceAddress) -> Bool { devices.contains(device) }

    mutating func note(_ device: DeviceAddress) {
        guard devices.insert(device).inserted else { return }
        order.append(device)
        if order.count > Self.most { devices.remove(order.removeFirst()) }
    }

    /// A link was given to an unpinned device.
    mutating func gaveLink() { areNext.toggle() }

    /// These waiting devices in the order in which they get links: first come, first served, but every second link is for
    /// the first of those that have given a record.
    func inOrder(_ waiting: [DeviceAddress]) -> [DeviceAddress] {
        var known = waiting.filter(contains)[...]
        guard !known.isEmpty, known.count < waiting.count else { return waiting }
        var order: [DeviceAddress] = []
        var taken: Set<DeviceAddress> = []
        var all = waiting[...]
        var isForKnown = areNext
        while true {
            while let first = known.first, taken.contains(first) { known.removeFirst() }
            while let first = all.first, taken.contains(first) { all.removeFirst() }
            guard let next = isForKnown ? known.first ?? all.first : all.first else { return order }
            order.append(next)
            taken.insert(next)
            isForKnown.toggle()
        }
    }
}
