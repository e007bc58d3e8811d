# A package whose functions call the hub. `bench/ecosystems` runs them on Idem's hub and on fettle's.
CONFIG = {"limit": {"default": 7, "help": "", "dyne": "idem"}}
DYNE = {"exec": ["exec"], "tool": ["tool"], "acct": ["acct"]}
