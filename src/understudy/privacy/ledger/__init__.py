"""The durable record of what was spent: a `ledger` of jobs, each reserved in full before anything is counted for it.

`append_only_log` keeps the entries in one file, `hash_chain` seals each with the one before it, `high_water_mark`
notices an older copy, `accounts` adds entries up, and a `transcript` holds the questions of one `job` with their
answers (`stored_answers`). Nothing here knows what an answer means. Proofs: docs/privacy.md, "The ledger".
"""
