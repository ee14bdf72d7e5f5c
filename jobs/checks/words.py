def compare(*a): return None
def hearing_reasons(x): return ()
