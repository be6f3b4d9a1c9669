"""``python -m kernelmeans_paper`` does what the command ``kernelmeans-paper`` does."""

from kernelmeans_paper.cli import main

main()
