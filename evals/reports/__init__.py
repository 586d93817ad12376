"""Reports from recorded rows: Markdown to keep beside them, and one HTML page that opens without a network."""
