@_exported public import IngestQueue
@_exported public import TestSupport
