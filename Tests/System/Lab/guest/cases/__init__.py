"""One file per case: TITLE, optionally LIMIT_S and RESTARTS (how often the case kills the service), and run(lab), whose
text goes into the result line.
"""
