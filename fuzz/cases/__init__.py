"""The classes of cases: each module is one."""
