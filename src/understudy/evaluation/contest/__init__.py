"""The 2018 NIST contest's scores of a synthetic table: three metrics, and all of them as one measure."""
