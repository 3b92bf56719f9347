"""The language as frozen types, its decoder, Go durations, and the JSON Schema. Pure."""
