"""The OpenAPI document of the server and the JSON Schema of the report."""
