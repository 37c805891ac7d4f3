"""Every line of SQL: a module a table, and the only place that knows the database driver."""
