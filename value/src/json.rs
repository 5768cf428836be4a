//! JSON as Python's `json` module reads and writes it.
