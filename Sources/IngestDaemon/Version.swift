/// The version of this program (semver.org).
package enum Version {
    package static let current = Software.version
    /// 2026-11-01T00:00:00Z: when this version was made, in seconds since 1970. No clock that is right shows
    /// less. Changed with the version, and not taken from the build, so that builds can be reproduced.
    static let released: Int64 = 1_793_491_200
}
