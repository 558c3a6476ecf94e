@_exported public import IngestBluetooth
@_exported public import IngestCore
@_exported public import IngestEvents
@_exported public import IngestPeripherals
@_exported public import IngestProfiles
@_exported public import IngestRecords
@_exported public import IngestStorage
@_exported public import IngestSupervision
