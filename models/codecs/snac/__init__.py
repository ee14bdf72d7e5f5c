"""SNAC (Siuzdak, Grötschla, Lanzendörfer: "SNAC: Multi-Scale Neural Audio Codec", 2024): the 24 kHz decoder."""
