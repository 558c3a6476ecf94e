@_exported public import IngestBluetooth
@_exported public import IngestEntries
@_exported public import IngestEvents
@_exported public import IngestPeripherals
@_exported public import IngestProfiles
