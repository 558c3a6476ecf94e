import Glibc

@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision
@testable import MQTTBridge

/// An MQTT broker over TCP, on the thread of the publisher: it moves whenever that asks whether to go on.
enum BrokerTarget {
    static func check(_ bytes: [UInt8]) {
        let broker = Broker(Draw(bytes))
        defer { broker.close() }
        guard
            let connection = BrokerConnection(
                clientID: "fuzz", version: .v5, login: BrokerLogin(user: "u", password: "p"))
        else {
            fatalError("out of memory")
        }
        let status = broker.hasStatus ? BrokerStatus(topic: .standard, gateway: "g") : nil
        let obstacle = connection.connect(
            to: Broker.address, byIPv4: true, status: status, isAbandoned: broker.move)
        if let obstacle {
            if case .answered = obstacle { fatalError("let in and not") }
            return
        }
        let messages = (0..<3).map {
            BrokerMessage(topic: "t/\($0)", payload: [UInt8](repeating: 0x20, count: 20))
        }
        switch connection.publish(messages, isAbandoned: broker.move) {
        case .answered(let reasons, let reply):
            require(reasons.count == messages.count, "answers to other messages")
            require((reply?.utf8.count ?? 0) <= 512 * 3, "a reply without end")
        case .refused, .ended, .closed, .tooLarge, .tooSlow, .withoutAcknowledgement: break
        case .failed(let words): require(!words.isEmpty && words.utf8.count < 200)
        }
        _ = connection.tick()
        require(connection.tickInterval >= .seconds(1))
        connection.disconnect(publishesWill: broker.hasStatus)
    }

    private final class Broker {
        private static let listener: Int32 = {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) == 0 }
            }
            guard isBound, listen(listener, 16) == 0 else { fatalError("no listener") }
            _ = fcntl(listener, F_SETFL, O_NONBLOCK)
            return listener
        }()

        static let address: BrokerAddress = {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
            }
            guard let made = BrokerAddress(url: "mqtt://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
            else {
                fatalError("no address")
            }
            return made
        }()

        let hasStatus: Bool
        private var draw: Draw
        private var connection: Int32 = -1
        private var isOver = false

        init(_ draw: Draw) {
            self.draw = draw
            hasStatus = self.draw.flag()
        }

        /// Sends the next piece once what was sent to it has come: each is its length and its bytes, and 0 nothing, or
        /// one byte many times over.
        func move() -> Bool {
            if connection < 0 {
                connection = accept(Self.listener, nil, nil)
                if connection < 0 { return isOver }
                // No TIME_WAIT, of which there would be millions.
                var option = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            }
            var block = [UInt8](repeating: 0, count: 4096)
            while recv(connection, &block, block.count, Int32(MSG_DONTWAIT)) > 0 {}
            guard !draw.isEmpty else {
                if !isOver { shutdown(connection, Int32(SHUT_WR)) }
                isOver = true
                return false
            }
            let count = draw.byte()
            var piece = draw.bytes(Int(count))
            if count == 0 { piece = [UInt8](repeating: draw.byte(), count: 4096) }
            _ = send(
                connection, piece, piece.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            return false
        }

        func close() {
            if connection < 0 { connection = accept(Self.listener, nil, nil) }
            if connection >= 0 { Glibc.close(connection) }
        }
    }
}
