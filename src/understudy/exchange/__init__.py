"""Statements about tables, and releases, in the forms of other tools."""

from understudy.exchange.forms import export_release, export_schema, import_schema

__all__ = ["export_release", "export_schema", "import_schema"]
