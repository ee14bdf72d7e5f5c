"""The doors: Typer commands now, HTTP and a page later. Thin: parse, call jobs/, print."""
