"""What work is and where its truth is kept: specs, states, reading, queue, streams, stores, assembly.

The only room that reads Redis, stores and source files. Knows no torch, no model code and no engine.
"""
