"""`duologue hits`: recruiting, reviewing and paying from the command line.

`desk` opens what the commands work with; `posting` posts and takes down, `money` approves and
pays, `refusing` refuses and takes back, `people` writes to and keeps away, `review` is by
spreadsheet.
"""
