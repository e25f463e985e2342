"""Where workers come from: one module a recruiter, all of them with the methods of `base`."""
