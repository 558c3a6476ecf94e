@_exported public import IngestBluetooth
@_exported public import IngestCore
@_exported public import IngestRecords
