/// Writes the program that has the kernel drop adverts which nobody asks for, before they wake this process.
///
/// It drops only what `AdvertisementFilter` certainly does not admit, and leaves the rest to that: it looks at a part of
/// each value, at so many structures of an advert, and, of the marks of a model, at the first. A load past the end of
/// the packet drops it, which is right once all of what every event has was found to be there: the last structure is
/// reached then, and nothing in front of it was wanted.
package struct AdvertProgram {
    /// Structures of an advert that are looked at, each further service of a list counted as one. An advert with more
    /// is let through; one of 31 octets rarely has half of them.
    private static let looks = 12
    /// The address, its type, RSSI, flags, and the length of the data (`AdvertReceiver.receive`).
    private static let fixedLength: UInt32 = 14
    /// Where the value of a structure begins, after its length and its type.
    private static let value: UInt32 = 2
    /// A conditional jump skips 255 instructions at most.
    private static let longestGroup = 128

    private var draft = SocketFilter.Draft()
    private let signs: AdvertProgramSigns

    /// Nil for a list that is too long for a program.
    package static func filter(admitting wanted: AdvertisementFilter) -> SocketFilter? {
        var program = AdvertProgram(signs: AdvertProgramSigns(of: wanted.models.compactMap(\.first)))
        program.findParameters()
        program.look(for: wanted.addresses)
        if program.signs.isEmpty { program.draft.drop() } else { program.lookAtStructures() }
        return program.draft.filter()
    }

    private init(signs: AdvertProgramSigns) {
        self.signs = signs
    }

    /// Leaves where the event's parameters begin in the index. Other events are let through, and what is too short for
    /// an advert.
    private mutating func findParameters() {
        let header = UInt32(ManagementProtocol.headerLength)
        let handle: UInt32 = 2
        let (found, monitored, other) = (draft.label(), draft.label(), draft.label())
        let (parameters, advert) = (draft.label(), draft.label())
        draft.add(.loadLength)
        draft.branch(.jumpIfAtLeast, header + handle, ifFalse: other)
        draft.add(.loadHalf, 0)
        draft.branch(.jumpIfEqual, .octets(of: ManagementProtocol.Event.deviceFound), ifTrue: found)
        draft.branch(
            .jumpIfEqual, .octets(of: ManagementProtocol.Event.monitorDeviceFound), ifTrue: monitored)
        draft.place(other)
        draft.letThrough()
        draft.place(found)
        draft.add(.setIndex, header)
        draft.jump(to: parameters)
        draft.place(monitored)
        draft.add(.setIndex, header + handle)
        draft.place(parameters)
        draft.add(.loadLength)
        draft.add(.subtractIndex)
        draft.branch(.jumpIfAtLeast, Self.fixedLength, ifTrue: advert)
        draft.letThrough()
        draft.place(advert)
    }

    /// Of an address the four octets that come first, which no two devices of one place share.
    private mutating func look(for addresses: Set<BluetoothAddress>) {
        guard !addresses.isEmpty else { return }
        draft.add(.loadWordAtIndex, 0)
        let numbers = Set(addresses.map { UInt32.octets(of: UInt32(truncatingIfNeeded: $0.value)) })
        letThrough(ifOneOf: numbers.sorted())
    }

    /// Lets the packet through if the accumulator is one of these.
    private mutating func letThrough(ifOneOf numbers: [UInt32]) {
        for start in stride(from: 0, to: numbers.count, by: Self.longestGroup) {
            let group = numbers[start..<min(start + Self.longestGroup, numbers.count)]
            let (isWanted, others) = (draft.label(), draft.label())
            for number in group { draft.branch(.jumpIfEqual, number, ifTrue: isWanted) }
            draft.jump(to: others)
            draft.place(isWanted)
            draft.letThrough()
            draft.place(others)
        }
    }

    // MARK: The structures

    /// The walk of `AdvertisementStructures`, one look after the other, because a program cannot go back. The index is
    /// where the structure begins, memory[0] its length and type.
    private mutating func lookAtStructures() {
        let looks = (0...Self.looks).map { _ in draft.label() }
        draft.add(.copyFromIndex)
        draft.add(.add, Self.fixedLength)
        draft.add(.copyToIndex)
        for (look, nextLook) in zip(looks, looks.dropFirst()) {
            let isStructure = draft.label()
            draft.add(.loadHalfAtIndex, 0)
            // A length of zero ends the advert early.
            draft.branch(.jumpIfAtLeast, 1 << 8, ifTrue: isStructure)
            draft.drop()
            draft.place(isStructure)
            draft.add(.storeMemory, 0)
            draft.place(look)
            lookAtStructure(nextLook)
            draft.add(.loadMemory, 0)
            draft.add(.shiftRight, 8)
            draft.add(.addIndex)
            draft.add(.add, 1)
            draft.add(.copyToIndex)
        }
        if let end = looks.last { draft.place(end) }
        draft.letThrough()
    }

    /// - Parameter nextLook: takes length and type in the accumulator, and the index at the structure.
    private mutating func lookAtStructure(_ nextLook: SocketFilter.Draft.Label) {
        typealias DataType = AdvertisementDataType
        let end = draft.label()
        draft.add(.and, 0xFF)
        if !signs.services.isEmpty {
            ofType([DataType.someShortServices, DataType.allShortServices, DataType.shortServiceData], end) {
                $0.draft.add(.loadHalfAtIndex, Self.value)
                $0.letThrough(ifOneOf: $0.signs.services)
                $0.goOn(behind: 2, unless: DataType.shortServiceData, to: nextLook, end)
            }
        }
        if !signs.longServices.isEmpty {
            ofType([DataType.someLongServices, DataType.allLongServices, DataType.longServiceData], end) {
                $0.endUnless(valueHas: 16, end)
                $0.draft.add(.loadWordAtIndex, Self.value + 12)
                $0.letThrough(ifOneOf: $0.signs.longServices)
                $0.goOn(behind: 16, unless: DataType.longServiceData, to: nextLook, end)
            }
        }
        if !signs.companies.isEmpty {
            ofType([DataType.manufacturerData], end) {
                $0.draft.add(.loadHalfAtIndex, Self.value)
                $0.letThrough(ifOneOf: $0.signs.companies)
            }
        }
        if signs.takesAnyName || !signs.nameBeginnings.isEmpty {
            ofType([DataType.shortenedName, DataType.completeName], end) { $0.lookAtName(end) }
        }
        draft.place(end)
    }

    /// What is done with structures of these types, whose type is in the accumulator; it goes to `end` then.
    private mutating func ofType(
        _ types: [UInt8], _ end: SocketFilter.Draft.Label, _ body: (inout Self) -> Void
    ) {
        let (isOfType, others) = (draft.label(), draft.label())
        for type in types { draft.branch(.jumpIfEqual, UInt32(type), ifTrue: isOfType) }
        draft.jump(to: others)
        draft.place(isOfType)
        body(&self)
        draft.jump(to: end)
        draft.place(others)
    }

    private mutating func endUnless(valueHas octets: UInt32, _ end: SocketFilter.Draft.Label) {
        draft.add(.loadMemory, 0)
        draft.branch(.jumpIfAtLeast, (1 + octets) << 8, ifFalse: end)
    }

    /// Has the next look be at the rest of a list, behind a value of so many octets, if there is another one: as at a
    /// structure that is so much shorter, and begins so much later.
    private mutating func goOn(
        behind octets: UInt32, unless type: UInt8, to nextLook: SocketFilter.Draft.Label,
        _ end: SocketFilter.Draft.Label
    ) {
        endUnless(valueHas: 2 * octets, end)
        draft.add(.and, 0xFF)
        draft.branch(.jumpIfEqual, UInt32(type), ifTrue: end)
        draft.add(.copyFromIndex)
        draft.add(.add, octets)
        draft.add(.copyToIndex)
        draft.add(.loadMemory, 0)
        draft.add(.subtract, octets << 8)
        draft.add(.storeMemory, 0)
        draft.jump(to: nextLook)
    }

    /// The index still at the structure, whose length is in memory[0].
    private mutating func lookAtName(_ end: SocketFilter.Draft.Label) {
        guard !signs.takesAnyName else { return draft.letThrough() }
        let loads: [(octets: Int, SocketFilter.Operation)] = [
            (1, .loadByteAtIndex), (2, .loadHalfAtIndex), (4, .loadWordAtIndex),
        ]
        for (octets, load) in loads {
            guard let beginnings = signs.nameBeginnings[octets] else { continue }
            endUnless(valueHas: UInt32(octets), end)
            draft.add(load, Self.value)
            letThrough(ifOneOf: beginnings)
        }
    }
}
