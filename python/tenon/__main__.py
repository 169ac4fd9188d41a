"""python -m tenon runs the tenon command."""

import os
import sys


def main():
    """Replace this process by the command."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tenon")
    if not os.access(command, os.X_OK):
        sys.exit("tenon: this build has no command; it was made without files (TENON_IO)")
    os.execv(command, ["tenon"] + sys.argv[1:])


if __name__ == "__main__":
    main()
