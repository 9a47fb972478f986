"""Where results go: a folder of JSON files, or one table."""
