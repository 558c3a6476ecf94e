import FoundationEssentials
import Glibc

/// What the gateway and a command that has its queue to itself open alike.
extension StateLock {
    /// Makes the state directory where it is missing, and takes its lock.
    static func make(_ directory: String) throws(CommandFailure) -> StateLock {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(directory): the state directory cannot be made; run as ingestd.service, whose unit has to "
                    + "allow another one than its own (ReadWritePaths=), or set gateway.state_directory")
        }
        return try take(directory)
    }

    /// Takes the lock of a state directory that is there.
    static func take(_ directory: String) throws(CommandFailure) -> StateLock {
        do throws(StateLock.Failure) {
            return try StateLock(directory: directory)
        } catch {
            switch error {
            case .heldByAnother:
                throw CommandFailure(
                    .tryAgain, "\(directory): another ingestd uses this state directory; stop that one first")
            case .system(ELOOP):
                throw CommandFailure(
                    .cannotCreate, "\(directory)/lock: a link is in the place of the lock; remove it")
            case .system(EISDIR):
                throw CommandFailure(
                    .cannotCreate, "\(directory)/lock: a directory is in the place of the lock; remove it")
            case .system(EROFS):
                throw CommandFailure(
                    .cannotCreate,
                    "\(directory): the state directory is read-only here; have the unit allow it "
                        + "(ReadWritePaths=), mount it writable, or set gateway.state_directory")
            case .system(let errno):
                throw CommandFailure(
                    .cannotCreate,
                    "\(directory): the state directory cannot be used (errno \(errno)); it must belong to "
                        + "the user of the service")
            }
        }
    }
}

extension SQLiteQueue {
    /// The queue of a configuration.
    static func open(
        _ configuration: Configuration, clock: any GatewayClock
    ) async throws(CommandFailure) -> SQLiteQueue {
        let bootID = try BootID.read()
        do {
            let queue = try await SQLiteQueue.open(
                path: configuration.queuePath, bootID: bootID, clock: clock,
                destinations: configuration.routings)
            queue.tellMeasurements(configuration.events.includesValues)
            return queue
        } catch let error as StoreError {
            throw CommandFailure(error)
        } catch {
            throw CommandFailure(.cannotCreate, "the queue cannot be opened: \(error)")
        }
    }
}

extension Configuration {
    func zone() throws(CommandFailure) -> TimeZoneRules {
        guard let name = gateway.timeZone else { return .ofSystem() }
        do {
            return try TimeZoneRules.load(name)
        } catch {
            throw CommandFailure(.configuration, "gateway.time_zone: \(error)")
        }
    }

    /// The same, by the rules that the time zone database has whenever they are asked for. Another zone of the system
    /// needs a restart.
    func localZone(by clock: any GatewayClock) throws(CommandFailure) -> LocalZone {
        let system = "/etc/localtime"
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: system)
        let file =
            switch gateway.timeZone {
            case "UTC", "Etc/UTC": nil as String?
            case let name?: "\(TimeZoneRules.database)/\(name)"
            case nil: link.map { $0.hasPrefix("/") ? $0 : "/etc/" + $0 } ?? system
            }
        return LocalZone(try zone(), file: file, now: { clock.now })
    }
}

/// The kernel's name of this boot.
enum BootID {
    static func read() throws(CommandFailure) -> String {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure(.unavailable, "\(path) cannot be read: do not use ProcSubset=pid")
        }
        return text.filter { !$0.isWhitespace }
    }
}

extension Timekeeper.Sources {
    static let ofSystem = Timekeeper.Sources(
        isSynchronized: { await SystemBus.isTimeSynchronized() },
        realTimeClocks: { RealTimeClocks.times() })
}
