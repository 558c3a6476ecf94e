extension AllowedPeripheral {
    /// How the entry's devices broadcast; nil for those that are connected to.
    package var broadcastFormat: BroadcastFormat? { BroadcastFormats.named(model.profile) }
}
