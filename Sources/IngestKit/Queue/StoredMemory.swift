/// What is remembered of a device, as the file has it: JSON with a version.
struct StoredMemory: Codable {
    /// It is raised when an earlier program would misread what this one writes.
    static let version = 1

    let memory: DeviceMemory

    private enum Key: String, CodingKey {
        case version = "memoryVersion"
    }

    init(_ memory: DeviceMemory) { self.memory = memory }

    /// - Throws: `DecodingError` for a later version too.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        // Before there were versions there was the first.
        let version = try container.decodeIfPresent(Int.self, forKey: .version) ?? 1
        guard version <= Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container, debugDescription: "written by a later version")
        }
        memory = try DeviceMemory(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try memory.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.version, forKey: .version)
    }
}
