"""The doors: Typer commands (`cli.app`). Thin: parse, call jobs, print."""
