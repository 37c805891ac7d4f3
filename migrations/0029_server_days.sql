-- The last two days on which a server did the background jobs of this file, in days since 1970. What is removed by its
-- age is removed as of the day before today: a clock that leaps for one start removes nothing.

CREATE TABLE server_days (
    day INTEGER PRIMARY KEY
) STRICT;
