/// The name of an event, as `INGEST_EVENT` carries it.
package enum EventName: String, Sendable, Hashable, CaseIterable {
    case started
    case stopping
    case configReloaded = "config-reloaded"
    case configRejected = "config-rejected"
    case adapterReady = "adapter-ready"
    case adapterLost = "adapter-lost"
    case adapterReset = "adapter-reset"
    case kernelDefect = "kernel-defect"
    case discovered
    case connected
    case disconnected
    case readyToRead = "ready-to-read"
    case read
    case readFailed = "read-failed"
    case imported
    case duplicateIgnored = "duplicate-ignored"
    case decodeError = "decode-error"
    case historySkipped = "history-skipped"
    case paired
    case pairFailed = "pair-failed"
    case bondLost = "bond-lost"
    case clockSkew = "clock-skew"
    case submitted
    case failed
    case retrying
    case mediaSubmitted = "media-submitted"
    case mediaFailed = "media-failed"
    case destinationDown = "destination-down"
    case destinationUp = "destination-up"
    case authRejected = "auth-rejected"
    case destinationMisconfigured = "destination-misconfigured"
    case signedIn = "signed-in"
    case sessionEnded = "session-ended"
    case queueHigh = "queue-high"
    case queueFull = "queue-full"
    case queueNormal = "queue-normal"
    case strangerDropped = "stranger-dropped"
    case backlogDropped = "backlog-dropped"
    case clockCorrected = "clock-corrected"
    case eventsDropped = "events-dropped"
    case storeError = "store-error"
    case storeQuarantined = "store-quarantined"

    /// The MESSAGE_ID: 32 lower-case hexadecimal digits, never changed once released
    /// (sd-id128(3), systemd.journal-fields(7)).
    package var messageID: String {
        switch self {
        case .started: "954d835d8e3941d382ef32a8da628ed0"
        case .stopping: "0278cb3b5cf54f94979442c3ac20b58f"
        case .configReloaded: "0ba290b5d1b7495c803947ccd9a11ca1"
        case .configRejected: "f3301b13f51b41c787037f77f364c5df"
        case .adapterReady: "492be8d26737457ebd3a7be79d8e335d"
        case .adapterLost: "bc69f16f0f174dcdae228ab44376218b"
        case .adapterReset: "bbd703b133524acb83938ecd16f62a06"
        case .kernelDefect: "e16e85622554476ab451753aad3d68a0"
        case .discovered: "30fdf342cef74a9c88901d270705c070"
        case .connected: "77289db8986949929d8f4928b3553905"
        case .disconnected: "c5e46e5b801e444682f8cc729161f53e"
        case .readyToRead: "d0a25154eb6c4c62946fe4d23f17dde6"
        case .read: "2b83473c578e4c96b841be5dd39550fb"
        case .readFailed: "189b66b1c4284a75b97efc9f397ee375"
        case .imported: "f5eb7f4059084098add1cba5b961f620"
        case .duplicateIgnored: "f48e8fda1c194d4383bf5c3af4534eb7"
        case .decodeError: "67e257a76a4d4306b4c4c06eec62fb23"
        case .historySkipped: "c927f3fe2a884a65aec9fddac331ca32"
        case .paired: "4debc6d41b844a72b3f4abae5cb293de"
        case .pairFailed: "22fc00d2488346279250b842c070f858"
        case .bondLost: "0a8723f2966b475382df88f55418b78f"
        case .clockSkew: "b5e7bd3bd977478d858087fe6f562eb5"
        case .submitted: "707dfaa9f64349a99a1b48e905f9bc20"
        case .failed: "e19adef2276e4a10a52d56a3d0276948"
        case .retrying: "1ff3f61016bd4d69ac598276ac3d92df"
        case .mediaSubmitted: "0182578f107e4b8894953677f7519078"
        case .mediaFailed: "cfaa7ab045484d818c28e34b5caf3387"
        case .destinationDown: "1277c156149e403988e672b1aff023c2"
        case .destinationUp: "4586d79567f743178ec9b21aac2d0997"
        case .authRejected: "31f155aac2f44ba589024798e1d62b22"
        case .destinationMisconfigured: "9238eb459ff84ffaa9b90f73bb5a34dc"
        case .signedIn: "a64597c33d4443aa9828ab6645550c93"
        case .sessionEnded: "be059c9a5b9e4f7b8174c35a55da4d96"
        case .queueHigh: "1e88deb0a73f4a22952de1dd4b60066b"
        case .queueFull: "267df4918be34a1c92b92c410a22f23c"
        case .queueNormal: "ed195cddbe904e02ae47a53ccf5db875"
        case .strangerDropped: "a59685415ffe432a9dd237e64140e0aa"
        case .backlogDropped: "2864af4d14f34f97a180831c48330cbc"
        case .clockCorrected: "5f0e1d7c1b3a4c86a3f2d6a1c09be784"
        case .eventsDropped: "c49a7d4f60e14b7c9f0f3a4be1d2856b"
        case .storeError: "3f3f0f26a3264da6aaa745fe1b3c4ac4"
        case .storeQuarantined: "44590031c1b84501bb02fe4e9d218cb6"
        }
    }
}
