@_exported public import IngestCore
