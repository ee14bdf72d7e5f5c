"""The machine room: ties the queue to an engine; supervisor, synthesis process, CPU worker, embedded node."""
