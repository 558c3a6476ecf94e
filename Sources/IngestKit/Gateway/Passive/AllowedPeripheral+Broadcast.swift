extension AllowedPeripheral {
    /// How the entry's devices broadcast; nil for those that are connected to.
    var broadcastFormat: BroadcastFormat? { BroadcastFormats.named(model.profile) }
}
