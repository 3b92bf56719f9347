"""Clients of other systems, each over the official provider's hook."""
