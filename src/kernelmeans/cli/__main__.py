"""``python -m kernelmeans.cli`` does what the command ``kernelmeans`` does."""

from kernelmeans.cli import main

main()
