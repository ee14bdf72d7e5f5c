"""One device turns requests into audio: slots, steps, codec lane, noise.

Knows no text, no queue and no model name. A model reaches it as a *program* (`engine.program` for whole utterances,
`engine.tokens.program` for models that draw tokens), work as `engine.request.Request`, and audio leaves it as
`engine.request.Delta`. From outside both lanes are an `engine.lane.Engine`.
"""
