"""`python -m videohv` is the command line."""

from videohv.cli import main

main()
