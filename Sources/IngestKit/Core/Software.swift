/// This program.
package enum Software {
    /// Its version (semver.org).
    package static let version = "0.1.0"
}
