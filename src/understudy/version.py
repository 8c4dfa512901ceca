"""The version of the package, which certificates and files state."""

__version__ = "0.1.0"
