"""The studio: the whole way from a private table to synthetic records in a browser, on this machine alone.

Screens call what `import understudy as us` offers and hold no logic of their own. A server on loopback (`server`)
lets in whoever has its token (`gate`). Tables, statements and runs lie in a folder that this user alone can read
(`workspace`). A run is a process of its own (`work_process`) under a label of its own: whatever is lost on the way,
the ledger charges it once.
"""
