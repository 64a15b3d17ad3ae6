"""Request handlers, one module per resource. They only check permissions and call the queues."""
