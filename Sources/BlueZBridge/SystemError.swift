import Glibc

/// A system call that failed: which, and with what errno.
package struct SystemError: Error, Sendable, Equatable {
    package let call: String
    package let errno: Int32
}

extension SystemError: CustomStringConvertible {
    package var description: String {
        "\(call): \(SystemError.text(of: errno))"
    }

    /// strerror(3), which is safe here: glibc's text of a known number is a constant.
    static func text(of errno: Int32) -> String {
        guard let text = unsafe strerror(errno) else { return "error \(errno)" }
        return unsafe String(cString: text)
    }
}

/// Makes a system call, again when a signal interrupted it, and turns -1 into an error. A bad
/// descriptor or pointer is a mistake of ours and traps.
@discardableResult
func system<Result: SignedInteger>(
    _ call: String, _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        guard result == -1 else { return result }
        let error = errno
        precondition(error != EBADF && error != EFAULT, "\(call): a descriptor or pointer of ours is bad")
        if error != EINTR { throw SystemError(call: call, errno: error) }
    }
}
