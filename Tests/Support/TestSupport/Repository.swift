/// The tree that the tests belong to.
package enum Repository {
    /// Its absolute path.
    package static var root: String {
        #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
    }
}
