/** What tells a file of ours from others, and how far its schema has come. */

/** Everything that migrations have made; what SQLite made for itself has no text. */
export const selectObjects = `
  select type, name, sql from sqlite_schema where sql is not null order by type, name`;

export const selectApplied = `select version, name, checksum from schema_version order by version`;

/** @version, @name, @checksum. */
export const insertApplied = `
  insert into schema_version (version, name, checksum) values (@version, @name, @checksum)`;
