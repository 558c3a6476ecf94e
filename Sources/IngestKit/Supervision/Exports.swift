@_exported public import IngestCore
@_exported public import IngestEvents
@_exported public import IngestStorage
