"""HTML and EPUB: pages scanned once for the place of every character, trees walked for what a listener hears."""
