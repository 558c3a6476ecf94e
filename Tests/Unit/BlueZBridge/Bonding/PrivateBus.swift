import FoundationEssentials
import Glibc
import Synchronization

@testable import BlueZBridge

/// A message bus of the test's own: Debian's dbus-daemon (tools/install-packages dbus-daemon).
///
/// Sendable is checked by hand: after the initialiser only `life` changes, which is behind its mutex.
final class PrivateBus: @unchecked Sendable {
    struct NotStarted: Error {}

    private static let configuration = """
        <busconfig>
          <type>session</type>
          <listen>unix:dir=/tmp</listen>
          <policy context="default">
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """

    /// Prints the address on its standard output; ends when its standard input does, so that no bus
    /// outlives the tests, however they end.
    private static let script = """
        exec 3<&0
        dbus-daemon --config-file="$1" --nofork --print-address=1 < /dev/null 3<&- 2> /dev/null & bus=$!
        exec > /dev/null
        cat <&3
        kill -KILL $bus
        rm "$1"
        """

    let address: BusConnection.Address
    private let shell: pid_t
    /// The end for writing of the script's standard input; nil once it is closed.
    private let life: Mutex<Int32?>

    init() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID().uuidString).conf")
        try Self.configuration.write(to: file, atomically: true, encoding: .utf8)
        let input = try Self.pipe()
        let output = try Self.pipe()
        defer { close(output.read) }
        shell = try Self.start(
            ["/bin/sh", "-c", Self.script, "bus", file.path], input: input.read, output: output.write)
        close(input.read)
        close(output.write)
        life = Mutex(input.write)
        // Blocks for as long as the bus takes to listen; its end ends the line as well.
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output.read, &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        let text = String(decoding: line, as: UTF8.self)
        guard text.hasPrefix("unix:") else { throw NotStarted() }
        address = .bus(text)
    }

    /// Two ends that no other child inherits.
    private static func pipe() throws(SystemError) -> (read: Int32, write: Int32) {
        var ends: (Int32, Int32) = (0, 0)
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try system("socketpair") {
            unsafe withUnsafeMutableBytes(of: &ends) { bytes in
                unsafe socketpair(AF_UNIX, type, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress)
            }
        }
        return (ends.0, ends.1)
    }

    private static func start(_ arguments: [String], input: Int32, output: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { while let pointer = unsafe pointers.popLast() { unsafe free(pointer) } }
        var process = pid_t()
        guard unsafe posix_spawn(&process, arguments[0], &actions, nil, &pointers, environ) == 0 else {
            throw NotStarted()
        }
        return process
    }

    /// Ends the bus, as a crash of it would.
    func stop() {
        life.withLock { life in
            guard let end = life else { return }
            life = nil
            close(end)
            _ = waitpid(shell, nil, 0)
        }
    }

    deinit {
        stop()
    }
}
