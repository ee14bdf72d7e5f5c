"""Reference clips: recordings of people who agreed that models which clone voices speak like them."""
