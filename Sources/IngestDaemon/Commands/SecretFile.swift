import FoundationEssentials

/// A secret that a flag names by its file. It is a credential and never an argument, which others on the box could see.
enum SecretFile {
    /// - Parameters:
    ///   - file: a path, or - for standard input.
    ///   - flag: as messages name it.
    ///   - limit: the most that is read of standard input, in bytes.
    static func read(_ file: String, flag: String, limit: Int) throws(CommandFailure) -> String {
        if file == "-" {
            var text = ""
            while text.utf8.count <= limit, let line = readLine() { text += line }
            return text
        }
        let directory = FileManager.default.currentDirectoryPath
        do throws(CredentialError) {
            return try Credentials(environment: [:])
                .read(.path(file.hasPrefix("/") ? file : directory + "/" + file)).text ?? ""
        } catch {
            throw CommandFailure(.badData, "\(flag): \(error)")
        }
    }
}
