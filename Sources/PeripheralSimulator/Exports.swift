@_exported public import BlueZBridge
@_exported public import IngestBluetooth
@_exported public import IngestCore
