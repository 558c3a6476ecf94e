/// What pairing asks of passive reading, and what passive reading tells it.
struct PairingHold: Sendable {
    /// A device that is to be paired without being asked.
    struct Wish: Sendable {
        let advertisement: Advertisement
        let entry: AllowedPeripheral
    }

    /// Wishes that wait for a reader. They come again with each advert.
    private static let mostWishes = 16

    /// Hears each advert while a pairing is under way, and says whether it is to lead to no read.
    var listener: (@Sendable (Advertisement) -> Bool)?
    /// What is being paired, so that its device is listened for, whatever it sends under.
    var target: PairingTarget?
    var automatic = AutomaticPairing()
    /// Reads that were started and have not ended.
    var readsUnderWay = 0
    /// The same of standing attempts, which wait for a peripheral nearly all of the time.
    var attemptsUnderWay = 0
    /// One reader.
    let wishes: AsyncStream<Wish>
    let wish: AsyncStream<Wish>.Continuation

    init() {
        (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.mostWishes))
    }
}
