"""The composition root: command line, settings, study file, and the services Duologue brings."""
