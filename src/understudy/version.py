"""The version of the package, which certificates and files state."""

__version__ = "1.0.0rc1"
