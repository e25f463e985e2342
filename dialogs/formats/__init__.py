"""Files that others read: one module a format, knowing nothing but the format."""
