"""Text to phonemes: English text to the IPA notation that Piper voices were trained on (espeak's en-us symbols).

`routes.py` is the door. No route imports GPL code into this process; the espeak one talks to a child over a pipe.
"""
