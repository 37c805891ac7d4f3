"""The same memory on PostgreSQL with pgvector: a connection pool, migrations, and a module a table with all its SQL."""
