"""Plain text: lines to blocks, what surrounds and interrupts a printed book, shapes of lists, tables and scripts."""
