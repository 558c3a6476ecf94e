import ArgumentParser
import FoundationEssentials
import Glibc

extension Import {
    /// `ingestd import folder`.
    struct Folder: AsynchronousCommand {
        static let configuration = CommandConfiguration(
            commandName: "folder",
            abstract: "Import the exports that another program puts into a folder.",
            discussion: """
                Takes each file of DIRECTORY/incoming that ends in .json, .xml or .zip and has not changed for ten \
                seconds, and moves it to DIRECTORY/done, or to DIRECTORY/bad if it cannot be read. It needs the running \
                service. What cannot be taken now stays, and the exit status is 75 or 69. The unit \
                ingestd-import.path runs it. For example:

                  ingestd import folder /var/lib/ingestd-import --subject patient-17
                """)

        @Argument(help: "The folder.", completion: .directory)
        var directory: String

        @OptionGroup var choice: ImportChoice

        @OptionGroup var service: ServiceOptions

        func serve() async throws {
            let environment = ProcessInfo.processInfo.environment
            let configuration = try service.configuration(environment: environment)
            let run = FolderImport(
                folder: DropFolder(path: directory),
                selection: try choice.selection(in: try configuration.zone()))
            do {
                try run.folder.prepare()
            } catch {
                throw CommandFailure(.noInput, FolderImport.message(error))
            }
            guard !run.folder.names().isEmpty else { return }
            let inlet = try await EntryInlet.open(
                configuration, isNamed: service.isNamed, needsService: true, environment: environment)
            let failure = await run.takeAll(by: inlet)
            await inlet.close()
            if let failure { throw failure }
        }
    }
}

/// One look at a folder of exports, until nothing is left in it that can be taken.
final class FolderImport {
    /// How often it looks whether a file rests, and for how long: one that is written for longer is for the next time.
    private static let pause = Duration.seconds(2)
    private static let mostPauses = 60

    /// What became of a file.
    private enum Outcome {
        case moved
        /// It is written still, or was changed while it was read.
        case waits
        /// Nothing can be taken now.
        case failed(CommandFailure)
    }

    let folder: DropFolder
    private let selection: HealthExport.Selection

    init(folder: DropFolder, selection: HealthExport.Selection) {
        self.folder = folder
        self.selection = selection
    }

    /// - Returns: why files are left.
    func takeAll(by inlet: EntryInlet) async -> (any Error)? {
        defer { folder.prune() }
        for _ in 0..<Self.mostPauses {
            var waiting = 0
            // Again from the start after each file: others may have come meanwhile.
            for name in folder.names() {
                switch await take(name, by: inlet) {
                case .moved: break
                case .waits: waiting += 1
                case .failed(let failure): return failure
                }
            }
            folder.prune()
            if waiting == 0, folder.names().isEmpty { return nil }
            do {
                try await Task.sleep(for: Self.pause)
            } catch {
                return error
            }
        }
        return CommandFailure(
            .tryAgain,
            "\(folder.names().count.counted("file")) in \(TerminalText.line(folder.path))/incoming "
                + "\(folder.names().count == 1 ? "is" : "are") written still: the next run takes what is whole then"
        )
    }

    private func take(_ name: String, by inlet: EntryInlet) async -> Outcome {
        guard let state = folder.state(.incoming, name) else { return .moved }
        guard state.isRegular else {
            return moved(name, state, to: .bad, "it is no regular file")
        }
        guard state.isWhole(at: SystemClock().wallNanoseconds) else { return .waits }
        let path = folder.path(.incoming, name)
        do {
            let file = try ExportFile(path)
            let run = try HealthImport(
                selection, isJSON: file.isJSON, by: .queue(inlet, waits: false), progress: ProgressLine())
            let failure = await run.read(file)
            // A file that is changed while it is read breaks off, or worse: that is no fault of it.
            guard folder.state(.incoming, name) == state else { return .waits }
            if let failure { throw failure }
            return moved(name, state, to: .done, run.summary)
        } catch let failure as CommandFailure {
            switch failure.status {
            case .badData, .noInput:
                guard folder.state(.incoming, name) == state else { return .waits }
                return moved(
                    name, state, to: .bad, failure.message.replacing("\(TerminalText.line(path)): ", with: "")
                )
            default: return .failed(failure)
            }
        } catch {
            return .failed(CommandFailure(.tryAgain, "\(error)"))
        }
    }

    private func moved(
        _ name: String, _ state: DropFolder.State, to place: DropFolder.Place, _ words: String
    ) -> Outcome {
        do {
            guard try folder.move(name, state, to: place) else { return .waits }
        } catch {
            return .failed(CommandFailure(.noPermission, Self.message(error)))
        }
        StandardError.print("ingestd: \(TerminalText.line(name)) is in \(place.rawValue) now: \(words)")
        return .moved
    }

    static func message(_ failure: DropFolder.Failure) -> String {
        let path = TerminalText.line(failure.path)
        return switch failure.errno {
        case ENOENT: "\(path): there is no such directory: see docs/import.md, \"A folder\""
        case EACCES, EPERM, EROFS: "\(path): it may not be changed by this user"
        default: "\(path): it cannot be used (errno \(failure.errno))"
        }
    }
}
