import ArgumentParser
import FoundationEssentials
import Glibc

/// `ingestd check`: tells everything that is wrong with a configuration.
struct Check: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a configuration and tell every error in it.",
        discussion: """
            Prints one finding a line on standard error, as PATH:LINE:COLUMN: KEY: what was expected, \
            for the file and for those of conf.d beside it. \
            Exits 0 if the configuration can be used, warnings or not, and 78 if it cannot. For root it \
            looks at files and credentials as the service's user finds them, and at those that the unit loads. \
            For example:

              ingestd check
              ingestd check --json
            """)

    @Option(
        name: .customLong("config"), help: ArgumentHelp("The configuration.", valueName: "path"),
        completion: .file())
    var path = Configuration.defaultPath

    @Flag(help: "Print the result as one JSON object on standard output.")
    var json = false

    func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        let isRoot = geteuid() == 0
        let unit: ServiceUnit.Answer = isRoot ? await ServiceUnit.ask() : .noAnswer
        let view = ServiceView(unit: unit, isRoot: isRoot, environment: environment)
        let check = ConfigurationCheck(
            path: path, readableProfiles: Profiles.names, host: view.host(fileSeverity: .error))
        if json {
            try StandardOutput.write(check.json + "\n")
        } else {
            for diagnostic in check.diagnostics { StandardError.print(diagnostic.description) }
            guard check.configuration != nil else {
                StandardError.print(check.summary)
                throw ExitCode(ExitStatus.configuration.rawValue)
            }
            try StandardOutput.write(check.summary + "\n")
        }
        if check.configuration == nil { throw ExitCode(ExitStatus.configuration.rawValue) }
    }
}
