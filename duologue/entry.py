"""What the command `duologue` starts: small, so that Ctrl-C is heard from the first moment."""

import sys


def main() -> None:
    """Run the command line; interrupted while it still loads, end without a word."""
    try:
        from duologue.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
