@_exported public import IngestCore
@_exported public import IngestRecords
