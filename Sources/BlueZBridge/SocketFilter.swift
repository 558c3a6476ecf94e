/// A program of classic BPF by which the kernel decides what of a socket's packets comes into its queue (Linux
/// Documentation/networking/filter.rst). It answers how many bytes of a packet to keep, 0 to drop it, and ends with 0
/// at a load past the end of the packet.
package struct SocketFilter: Sendable, Equatable {
    /// One step (kernel include/uapi/linux/filter.h, struct sock_filter).
    package struct Instruction: Sendable, Equatable {
        let operation: Operation
        /// Instructions that a conditional jump skips.
        var ifTrue: UInt8 = 0
        var ifFalse: UInt8 = 0
        var operand: UInt32 = 0
    }

    /// On an accumulator, an index, and 16 words of memory; each has an operand k (kernel
    /// include/uapi/linux/bpf_common.h). Loads from the packet are big-endian.
    enum Operation: UInt16 {
        /// accumulator = two octets at k
        case loadHalf = 0x28
        /// accumulator = one, two or four octets at index + k
        case loadByteAtIndex = 0x50
        case loadHalfAtIndex = 0x48
        case loadWordAtIndex = 0x40
        /// accumulator = the packet's length
        case loadLength = 0x80
        /// accumulator = memory[k]
        case loadMemory = 0x60
        /// memory[k] = accumulator
        case storeMemory = 0x02
        /// index = k
        case setIndex = 0x01
        case copyToIndex = 0x07
        case copyFromIndex = 0x87
        case add = 0x04
        case addIndex = 0x0C
        case subtract = 0x14
        case subtractIndex = 0x1C
        case and = 0x54
        case shiftRight = 0x74
        /// Skips k instructions.
        case jump = 0x05
        case jumpIfEqual = 0x15
        case jumpIfAtLeast = 0x35
        case answer = 0x06
    }

    /// The most instructions that the kernel takes (BPF_MAXINSNS).
    static let maximumLength = 4_096

    package let instructions: [Instruction]
}

extension SocketFilter {
    /// A program under way, whose jumps go to labels: forwards, as the kernel has it.
    struct Draft {
        /// A place in the program.
        struct Label {
            fileprivate let number: Int
        }

        private enum Line {
            case plain(Operation, UInt32)
            case jump(Label)
            /// Without a label to the next line.
            case branch(Operation, UInt32, ifTrue: Label?, ifFalse: Label?)
        }

        private var lines: [Line] = []
        /// Where each label is; nil until it is placed.
        private var places: [Int?] = []

        mutating func label() -> Label {
            places.append(nil)
            return Label(number: places.count - 1)
        }

        /// The next line is where `label` is.
        mutating func place(_ label: Label) {
            places[label.number] = lines.count
        }

        mutating func add(_ operation: Operation, _ operand: UInt32 = 0) {
            lines.append(.plain(operation, operand))
        }

        mutating func jump(to label: Label) {
            lines.append(.jump(label))
        }

        mutating func branch(
            _ operation: Operation, _ operand: UInt32, ifTrue: Label? = nil, ifFalse: Label? = nil
        ) {
            lines.append(.branch(operation, operand, ifTrue: ifTrue, ifFalse: ifFalse))
        }

        mutating func letThrough() {
            add(.answer, .max)
        }

        mutating func drop() {
            add(.answer, 0)
        }

        /// The program; nil where it is longer than the kernel takes, or a conditional jump further than 255.
        func filter() -> SocketFilter? {
            guard lines.count <= SocketFilter.maximumLength else { return nil }
            var instructions: [Instruction] = []
            instructions.reserveCapacity(lines.count)
            for (number, line) in lines.enumerated() {
                guard let instruction = instruction(line, after: number + 1) else { return nil }
                instructions.append(instruction)
            }
            return SocketFilter(instructions: instructions)
        }

        /// - Parameter next: the number of the line after this one, from where jumps are counted.
        private func instruction(_ line: Line, after next: Int) -> Instruction? {
            func distance(to label: Label?) -> Int? {
                guard let label else { return 0 }
                return places[label.number].map { $0 - next }
            }
            switch line {
            case .plain(let operation, let operand):
                return Instruction(operation: operation, operand: operand)
            case .jump(let label):
                guard let far = distance(to: label).flatMap(UInt32.init(exactly:)) else { return nil }
                return Instruction(operation: .jump, operand: far)
            case .branch(let operation, let operand, let ifTrue, let ifFalse):
                guard let first = distance(to: ifTrue).flatMap(UInt8.init(exactly:)),
                    let second = distance(to: ifFalse).flatMap(UInt8.init(exactly:))
                else { return nil }
                return Instruction(operation: operation, ifTrue: first, ifFalse: second, operand: operand)
            }
        }
    }
}
