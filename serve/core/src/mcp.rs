//! MCP: one small dispatcher without a runtime, for stdio, HTTP and the Worker alike; both eras of the protocol.
