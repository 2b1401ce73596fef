-- Run once by the superuser, when the database's volume is empty: the rights that docs/guide/postgres.md asks for, and no other.
\set password `sed -n 's/^PGPASSWORD=//p' /run/secrets/database.env`
CREATE ROLE holdpoint LOGIN PASSWORD :'password';
CREATE ROLE holdpoint_worker NOLOGIN;
GRANT holdpoint_worker TO holdpoint;
CREATE SCHEMA holdpoint AUTHORIZATION holdpoint;
