"""Write the tables of cel-python's grammar that ship with the package.

To be run after a new version of cel-python or Lark was pinned, in an environment that has it. The
numbers in the tables differ from run to run, what they say does not.
"""

from __future__ import annotations

from mantle_provider.expressions.grammar import read_grammar
from mantle_provider.expressions.parser import TABLES, dump_tables

if __name__ == "__main__":
    TABLES.write_text(dump_tables(read_grammar()), encoding="utf-8")
