@_exported public import BlueZBridge
@_exported public import IngestConfiguration
@_exported public import IngestEntries
@_exported public import IngestOperator
@_exported public import IngestQueue
@_exported public import MQTTBridge
