@_exported public import IngestReading
