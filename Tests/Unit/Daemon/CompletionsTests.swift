import ArgumentParser
import Testing

@testable import IngestDaemon

/// What a shell is offered for an argument. Tests/System/Commands/completions asks the shells themselves.
@Suite struct CompletionsTests {
    @Test(
        arguments: [
            (["ingestd", "pair", ""], Configuration.defaultPath),
            (["ingestd", "pair", "--config", "a.yaml", ""], "a.yaml"),
            (["ingestd", "pair", "--config=a.yaml", ""], "a.yaml"),
            (["ingestd", "pair", "--config", "=", "a.yaml", ""], "a.yaml"),
            (["ingestd", "pair", "--config", ""], Configuration.defaultPath),
            (["ingestd", "pair", "--config"], Configuration.defaultPath),
        ])
    func theConfigurationIsTheOneThatTheLineNames(words: [String], path: String) {
        #expect(Completions.path(in: words) == path)
    }

    /// bash would run what an alias says.
    @Test func aWordReachesTheShellAsItIs() {
        #expect(Completions.quoted("Ann's $(id)", for: .bash) == #"'Ann'\''s $(id)'"#)
        #expect(Completions.quoted(#"a:b\c"#, for: .zsh) == #"a\:b\\c"#)
        #expect(Completions.quoted("kitchen cuff", for: .fish) == "kitchen cuff")
    }
}
