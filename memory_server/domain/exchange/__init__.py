"""What goes from file to file: a record for each kind, and how two versions of one become one."""
