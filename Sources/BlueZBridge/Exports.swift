@_exported public import IngestBluetooth
@_exported public import IngestCore
