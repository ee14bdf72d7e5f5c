"""Triton kernels, each with a torch twin elsewhere that says what it must compute. Imported only where CUDA is used."""
