"""From the record to files for others: which dialogs, in which folder, told by a manifest.

`folder` puts an export in its place whole or not at all; each other module makes one kind.
"""
