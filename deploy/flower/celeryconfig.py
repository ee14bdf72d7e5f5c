"""How Flower finds our Celery messages: on our broker, under the prefix of our keys."""

import os

broker_url = os.environ["TTS_BROKER_URL"]
broker_transport_options = {"global_keyprefix": "tts:c:"}
