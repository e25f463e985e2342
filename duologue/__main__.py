"""`python -m duologue`: the command line where the script `duologue` is not on the path."""

from duologue.entry import main

main()
