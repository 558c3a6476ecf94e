import CBlueZ
import Glibc

/// Why the management channel cannot be had or used.
package enum ManagementError: Error, Sendable, Equatable {
    /// The kernel has no Bluetooth (EAFNOSUPPORT), or this is not the host's network namespace.
    case noBluetooth
    /// The process lacks CAP_NET_ADMIN in the initial user namespace.
    case noPermission
    /// The process has several threads already, whose capabilities cannot be dropped from here.
    case threadsRunning
    /// A system call failed.
    case system(SystemError)
    /// The kernel answered a command with this status.
    case status(UInt8, opcode: UInt16)
    /// The kernel did not answer a command in time.
    case noAnswer(opcode: UInt16)
    /// The kernel's answer is shorter than its protocol says.
    case malformed(opcode: UInt16)
    /// The socket has ended: only a new process, with the capability, can open another.
    case ended
}

/// An open management channel, and no capability left to open another.
///
/// A socket that was bound with CAP_NET_ADMIN goes on being trusted, so that the rest of the
/// process's life needs none.
package struct ManagementDescriptor: ~Copyable {
    private let descriptor: Int32

    /// Opens the channel and drops every capability of the process for good. To be called before
    /// the process has a second thread, since capabilities belong to threads.
    package static func openAndDropPrivileges() throws(ManagementError) -> ManagementDescriptor {
        guard CBlueZ_thread_count() == 1 else { throw .threadsRunning }
        let descriptor = CBlueZ_open_management()
        if descriptor < 0 {
            let error = errno
            switch error {
            case EAFNOSUPPORT, EPROTONOSUPPORT: throw .noBluetooth
            case EPERM, EACCES: throw .noPermission
            default: throw .system(SystemError(call: "socket", errno: error))
            }
        }
        let opened = ManagementDescriptor(descriptor: descriptor)
        guard CBlueZ_has_net_admin() else { throw .noPermission }
        guard CBlueZ_drop_capabilities() == 0 else {
            throw .system(SystemError(call: "capset", errno: errno))
        }
        return opened
    }

    deinit {
        close(descriptor)
    }

    /// Hands the descriptor over to a channel on the radio's loop.
    package consuming func channel(on loop: RadioLoop) -> PacketChannel {
        let descriptor = self.descriptor
        discard self
        return PacketChannel(descriptor: descriptor, loop: loop)
    }
}

/// Commands to the kernel and their answers, and the events between them, on the radio's loop.
final class ManagementSocket {
    /// Set Powered, the slowest, resets the controller: some take several seconds.
    static let answerTimeout = Duration.seconds(15)

    private struct Key: Hashable {
        let opcode: UInt16
        let index: UInt16
    }

    private struct Waiting {
        let number: UInt64
        let continuation: CheckedContinuation<Result<[UInt8], ManagementError>, Never>
        let timer: RadioLoop.Timer
    }

    private let channel: PacketChannel
    private let loop: RadioLoop
    /// Commands under way, oldest first: the kernel answers equal ones in order.
    private var waiting: [Key: [Waiting]] = [:]
    private var lastNumber: UInt64 = 0
    private var hasEnded = false

    init(channel: PacketChannel, loop: RadioLoop) {
        self.channel = channel
        self.loop = loop
    }

    /// Begins to read. `onEvent` gets every event that answers no command of ours: its code,
    /// controller index and parameters.
    func open(
        onEvent: @escaping (_ event: UInt16, _ index: UInt16, _ parameters: Span<UInt8>) -> Void,
        onEnd: @escaping () -> Void
    ) {
        channel.open(
            onPacket: { [weak self] packet in
                var header = ManagementReader(packet)
                guard let self, let event = header.number16(), let index = header.number16(),
                    let length = header.number16(), let range = header.range(Int(length))
                else { return }
                let parameters = packet.extracting(range)
                switch event {
                case ManagementProtocol.Event.commandComplete, ManagementProtocol.Event.commandStatus:
                    answered(index: index, parameters)
                default:
                    onEvent(event, index, parameters)
                }
            },
            onEnd: { [weak self] _ in
                self?.end()
                onEnd()
            })
    }

    /// Has the kernel drop events before they wake anybody; with nil none.
    func setFilter(_ filter: SocketFilter?) throws(SystemError) {
        try channel.setFilter(filter)
    }

    func close() {
        channel.close()
        end()
    }

    /// Sends a command and returns the parameters of its answer, after the status.
    func send(
        _ opcode: UInt16, index: UInt16, _ parameters: [UInt8] = [], within limit: Duration = answerTimeout,
        isolation: isolated (any Actor)
    ) async throws(ManagementError) -> [UInt8] {
        if hasEnded { throw .ended }
        do {
            try send(packet: ManagementProtocol.packet(opcode, index: index, parameters))
        } catch {
            throw .system(error)
        }
        let key = Key(opcode: opcode, index: index)
        lastNumber += 1
        let number = lastNumber
        let result = await withCheckedContinuation(isolation: isolation) { continuation in
            let timer = loop.after(limit) { [weak self] in
                self?.finish(key, .failure(.noAnswer(opcode: opcode))) { $0.number == number }
            }
            waiting[key, default: []].append(
                Waiting(number: number, continuation: continuation, timer: timer))
        }
        return try result.get()
    }

    /// The kernel puts the answer into our receive buffer before send(2) returns. Where adverts fill that, there is none,
    /// and ENOMEM (kernel net/bluetooth/mgmt_util.c, mgmt_cmd_complete): then what has come is taken first.
    private func send(packet: [UInt8]) throws(SystemError) {
        do {
            try channel.send(packet, errorsAreEnds: false)
        } catch  where error.errno == ENOMEM {
            channel.drain()
            try channel.send(packet, errorsAreEnds: false)
        }
    }

    private func answered(index: UInt16, _ parameters: Span<UInt8>) {
        var reader = ManagementReader(parameters)
        guard let opcode = reader.number16(), let status = reader.byte() else { return }
        let key = Key(opcode: opcode, index: index)
        if status == ManagementProtocol.Status.success {
            var rest: [UInt8] = []
            if let range = reader.range(reader.remaining) {
                for position in range { rest.append(parameters[position]) }
            }
            finish(key, .success(rest)) { _ in true }
        } else {
            finish(key, .failure(.status(status, opcode: opcode))) { _ in true }
        }
    }

    private func finish(
        _ key: Key, _ result: Result<[UInt8], ManagementError>, where matches: (Waiting) -> Bool
    ) {
        guard let place = waiting[key]?.firstIndex(where: matches),
            let found = waiting[key]?.remove(at: place)
        else { return }
        if waiting[key]?.isEmpty == true { waiting[key] = nil }
        loop.cancel(found.timer)
        found.continuation.resume(returning: result)
    }

    private func end() {
        hasEnded = true
        for key in Array(waiting.keys) {
            while waiting[key] != nil { finish(key, .failure(.ended)) { _ in true } }
        }
    }
}
