import Yams

/// A value of a file with its key and its place. Every access that finds something else than
/// expected says so in the log and gives nil.
struct NodeReader {
    /// Of one mapping or list: more than any file in use.
    static let maximumEntries = 1000

    let node: Node
    /// From the root: `destinations[0].url`; empty for the root itself.
    let key: String
    let log: DiagnosticLog
    /// The values of the same key in other files, whose entries or items come after those here.
    var others: [NodeReader] = []
    /// Whether nothing uses the value: of what is wrong with it, errors alone are told.
    var isUnused = false

    var mark: Mark? { node.mark }

    /// Of the file, from 1.
    var line: Int { mark?.line ?? 1 }

    /// Whether the value was left empty: nothing, `~` or `null`.
    var isNull: Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain else { return false }
        return ["", "~", "null"].contains(scalar.string)
    }

    /// Whether it is a list without items.
    var isEmptyList: Bool {
        (isNull || node.sequence?.isEmpty == true) && others.allSatisfy(\.isEmptyList)
    }

    /// Its key, with the file if that is not the one of `reader`.
    func place(from reader: NodeReader) -> String {
        log === reader.log ? key : "\(key) in \(log.path)"
    }

    /// Whether exactly this is written here.
    func isText(_ text: String) -> Bool { node.scalar?.string == text }

    func error(_ message: String) {
        log.error(at: mark, key: key.isEmpty ? nil : key, message)
    }

    /// - Parameter what: the end of "expected …", in our words alone.
    func error(expected what: String) {
        log.error(at: mark, key: key.isEmpty ? nil : key, expected: what)
    }

    func warning(_ message: String) {
        if isUnused { return }
        log.warning(at: mark, key: key.isEmpty ? nil : key, message)
    }

    /// Says what was expected, and what stands there instead.
    /// - Parameter near: what was meant, most likely.
    func expected(_ what: String, near: String? = nil) {
        log.error(
            at: mark, key: key.isEmpty ? nil : key,
            "expected \(what), found \(found)" + (near.map { "; did you mean \($0)?" } ?? ""),
            expectation: "expected \(what)")
    }

    /// What stands here, short enough for one line.
    private var found: String {
        switch node {
        case .mapping: return "a mapping"
        case .sequence: return "a list"
        case .alias: return "an alias"
        case .scalar(let scalar):
            return isNull ? "nothing" : Self.quoted(scalar.string)
        }
    }

    static func quoted(_ text: String) -> String { "\"" + shortened(text) + "\"" }

    /// What is written in a file, as it may be shown: a terminal obeys control characters.
    private static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.count > 40 || scalars.contains(where: \.isControl) else { return text }
        let printable = scalars.prefix(40).map { $0.isControl ? "?" : String($0) }.joined()
        return printable + (scalars.count > 40 ? "…" : "")
    }
}

// MARK: Containers

extension NodeReader {
    /// The entries of a mapping whose keys are known; unknown keys are errors. An empty value is
    /// an empty mapping.
    func mapping(_ section: KeySection) -> MappingReader? {
        guard let pairs = pairs() else { return nil }
        var entries: [String: NodeReader] = [:]
        for (name, keyMark, value) in pairs {
            guard section.keys.contains(where: { $0.name == name }) else {
                let message = unknown(name, in: section)
                log.error(at: keyMark, key: value.key, message, expectation: message)
                continue
            }
            entries[name] = value
        }
        return MappingReader(owner: self, entries: entries)
    }

    typealias Pair = (name: String, mark: Mark?, value: NodeReader)

    /// The entries of a mapping with keys of the operator's choice, in the order of the file, and of the files.
    func pairs() -> [Pair]? {
        guard var all = ownPairs() else { return nil }
        guard !others.isEmpty else { return all }
        var places: [String: Int] = [:]
        for (place, pair) in all.enumerated() { places[pair.name] = place }
        for pair in others.flatMap({ $0.pairs() ?? [] }) {
            guard let place = places[pair.name] else {
                places[pair.name] = all.count
                all.append(pair)
                continue
            }
            if all[place].value.isJoined(with: pair.value) {
                all[place].value.others.append(pair.value)
            } else {
                let first = all[place]
                pair.value.log.error(
                    at: pair.mark, key: pair.value.key,
                    expected: "it once: \(first.value.log.path):\(first.mark?.line ?? 1) sets it already")
            }
        }
        return all
    }

    /// The lists that are made of those of all files.
    private static let joinedLists: Set = ["peripherals", "destinations"]

    /// Whether this value and that of another file are one: those of sections, and the two lists.
    private func isJoined(with other: NodeReader) -> Bool {
        if Self.joinedLists.contains(key) { return true }
        return [self, other].allSatisfy { $0.isNull || $0.node.mapping != nil }
    }

    private func ownPairs() -> [Pair]? {
        if isNull { return [] }
        guard case .mapping(let mapping) = node else {
            expected("a mapping")
            return nil
        }
        guard mapping.count <= Self.maximumEntries else {
            error(expected: "at most \(Self.maximumEntries) entries")
            return nil
        }
        guard isTaken(mapping.count) else { return nil }
        return mapping.compactMap { keyNode, value in
            guard case .scalar(let scalar) = keyNode else {
                log.error(at: keyNode.mark, key: key.isEmpty ? nil : key, expected: "a plain key")
                return nil
            }
            let name = Self.shortened(scalar.string)
            let path = key.isEmpty ? name : "\(key).\(name)"
            return (scalar.string, keyNode.mark, NodeReader(node: value, key: path, log: log))
        }
    }

    /// The items of a list, and of those of other files; an empty value is an empty list.
    func items() -> [NodeReader]? {
        guard let own = ownItems() else { return nil }
        return own + others.flatMap { $0.items() ?? [] }
    }

    private func ownItems() -> [NodeReader]? {
        if isNull { return [] }
        guard case .sequence(let sequence) = node else {
            expected("a list")
            return nil
        }
        guard sequence.count <= Self.maximumEntries else {
            error(expected: "at most \(Self.maximumEntries) items")
            return nil
        }
        guard isTaken(sequence.count) else { return nil }
        return sequence.enumerated().map { NodeReader(node: $1, key: "\(key)[\($0)]", log: log) }
    }

    private func isTaken(_ count: Int) -> Bool {
        log.takes(count, at: mark, key: key.isEmpty ? nil : key)
    }

    /// The texts under one key of each mapping in a list, without complaint about anything else.
    func texts(of key: String) -> [String] {
        ownTexts(of: key) + others.flatMap { $0.texts(of: key) }
    }

    private func ownTexts(of key: String) -> [String] {
        node.sequence?.prefix(Self.maximumEntries).compactMap { item in
            guard let mapping = item.mapping, mapping.count <= Self.maximumEntries else { return nil }
            return mapping.first { $0.key.scalar?.string == key }?.value.scalar?.string
        } ?? []
    }

    /// The candidate that is most likely meant by `word`; nil if none is near, or nobody would be shown it.
    func nearest(to word: String, among candidates: [String]) -> String? {
        log.hasRoom ? Spelling.nearest(to: word, among: candidates) : nil
    }

    private func unknown(_ name: String, in section: KeySection) -> String {
        if let near = nearest(to: name, among: section.keys.map(\.name)) {
            return "unknown key; did you mean \(near)?"
        }
        return "unknown key; expected one of \(section.keys.map(\.name).joined(separator: ", "))"
    }
}

/// The known entries of a mapping.
struct MappingReader {
    let owner: NodeReader
    private let entries: [String: NodeReader]

    init(owner: NodeReader, entries: [String: NodeReader]) {
        self.owner = owner
        self.entries = entries
    }

    subscript(name: String) -> NodeReader? { entries[name] }

    /// The entry, or an error at the mapping that lacks it.
    func required(_ name: String, _ what: String) -> NodeReader? {
        if let entry = entries[name] { return entry }
        let key = owner.key.isEmpty ? name : "\(owner.key).\(name)"
        owner.log.error(at: owner.mark, key: key, expected: "\(what), but the key is missing")
        return nil
    }
}
