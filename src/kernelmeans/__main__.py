"""``python -m kernelmeans`` does what the command ``kernelmeans`` does."""

from kernelmeans.cli import main

main()
