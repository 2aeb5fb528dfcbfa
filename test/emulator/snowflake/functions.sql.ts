/** What Postgres lacks, in a schema of its own in the emulated database. */
export const MAKE_FUNCTIONS = String.raw`
create schema snow;
create table snow.tables (place text primary key, kind text not null, key_columns text[] not null);

create function snow.shift() returns interval language sql stable as
  $$ select coalesce(nullif(current_setting('snow.shift_ms', true), ''), '0')::float8 * interval '1 ms' $$;
create function snow.sysdate() returns timestamp language sql stable as
  $$ select (statement_timestamp() + snow.shift()) at time zone 'utc' $$;
create function snow.current_ts() returns timestamptz language sql stable as
  $$ select statement_timestamp() + snow.shift() $$;

create function snow.refuse_doubles() returns void language plpgsql as
  $$ begin raise exception 'one row would affect row a second time' using errcode = '21000'; end $$;

create function snow.json_text(of jsonb) returns text language plpgsql immutable strict as $$
begin
  case jsonb_typeof(of)
    when 'object' then return '{' || coalesce((select string_agg(to_json(key)::text || ':' ||
      snow.json_text(value), ',' order by key collate "C") from jsonb_each(of)), '') || '}';
    when 'array' then return '[' || coalesce((select string_agg(snow.json_text(value), ',' order by n)
      from jsonb_array_elements(of) with ordinality as e(value, n)), '') || ']';
    else return of::text;
  end case;
end $$;
create function snow.to_json(of jsonb) returns text language sql immutable as $$ select snow.json_text(of) $$;
create function snow.to_varchar(of jsonb) returns text language sql immutable as
  $$ select case when jsonb_typeof(of) in ('object', 'array') then snow.json_text(of) else of #>> '{}' end $$;
create function snow.to_varchar(of text) returns text language sql immutable as $$ select of $$;
create function snow.to_varchar(of anyelement) returns text language sql immutable as $$ select of::text $$;
create function snow.to_number(of text) returns numeric language sql immutable as $$ select of::numeric $$;
create function snow.to_number(of numeric) returns numeric language sql immutable as $$ select of $$;
create function snow.to_number(of jsonb) returns numeric language sql immutable as
  $$ select (of #>> '{}')::numeric $$;
create function snow.try_to_number(of text) returns numeric language plpgsql immutable as
  $$ begin return of::numeric; exception when others then return null; end $$;
create function snow.to_boolean(of text) returns boolean language sql immutable as $$ select of::boolean $$;

create function snow.parse_json(of text) returns jsonb language plpgsql immutable strict as $$
begin
  -- Postgres keeps no NUL, Snowflake does: it is stored as a private character and given back as NUL.
  if strpos(of, '\u0000') > 0 then
    return regexp_replace(of, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ue000', 'g')::jsonb;
  end if;
  return of::jsonb;
exception when others then
  raise exception '%', sqlerrm using errcode = '22032';
end $$;
create function snow.try_parse_json(of text) returns jsonb language plpgsql immutable strict as
  $$ begin return of::jsonb; exception when others then return null; end $$;
create function snow.to_variant(of anyelement) returns jsonb language sql immutable as $$ select to_jsonb(of) $$;
create function snow.get(of jsonb, at numeric) returns jsonb language sql immutable as $$ select of -> at::int $$;
create function snow.get(of jsonb, at text) returns jsonb language sql immutable as $$ select of -> at $$;
create function snow.get_path(of jsonb, at text) returns jsonb language sql immutable as
  $$ select of #> string_to_array(at, '.') $$;
create function snow.drop_nulls(of jsonb) returns jsonb language sql immutable as
  $$ select coalesce(jsonb_object_agg(key, value) filter (where value <> 'null'), '{}') from jsonb_each(of) $$;
create function snow.object_keys(of jsonb) returns jsonb language sql immutable as
  $$ select coalesce(jsonb_agg(key order by key), '[]') from jsonb_object_keys(of) as key $$;
create function snow.object_delete(of jsonb, variadic keys text[]) returns jsonb language sql immutable as
  $$ select of - keys $$;
create function snow.array_size(of jsonb) returns numeric language sql immutable as
  $$ select case when jsonb_typeof(of) = 'array' then jsonb_array_length(of) end $$;
create function snow.array_contains(one jsonb, of jsonb) returns boolean language sql immutable as
  $$ select exists (select from jsonb_array_elements(of) as e(v) where v = one) $$;
create function snow.array_cat(one jsonb, other jsonb) returns jsonb language sql immutable as
  $$ select one || other $$;
create function snow.array_append(of jsonb, one jsonb) returns jsonb language sql immutable as
  $$ select of || jsonb_build_array(one) $$;
create function snow.array_distinct(of jsonb) returns jsonb language sql immutable as
  $$ select coalesce(jsonb_agg(distinct v), '[]') from jsonb_array_elements(of) as e(v) $$;
create function snow.array_to_string(of jsonb, mark text) returns text language sql immutable as
  $$ select coalesce(string_agg(snow.to_varchar(v), mark order by n), '')
       from jsonb_array_elements(of) with ordinality as e(v, n) $$;
create function snow.split(of text, mark text) returns jsonb language sql immutable as
  $$ select to_jsonb(string_to_array(of, mark)) $$;
create function snow.typeof(of jsonb) returns text language sql immutable as
  $$ select case jsonb_typeof(of) when 'string' then 'VARCHAR' when 'number' then 'INTEGER'
       when 'null' then 'NULL_VALUE' else upper(jsonb_typeof(of)) end $$;
-- THIS of a long array is left out: each of its rows would carry a copy of all of them.
create function snow.flatten(input jsonb, path text default '', "outer" boolean default false)
  returns table (seq numeric, key text, path text, index numeric, value jsonb, this jsonb)
  language sql immutable rows 100 as $$
  with given as (select case when $2 = '' then $1 else $1 #> string_to_array($2, '.') end as v)
  select 1::numeric, null::text, format('[%s]', n - 1), (n - 1)::numeric, e.v,
         case when jsonb_array_length(given.v) <= 16 then given.v end
    from given, jsonb_array_elements(case when jsonb_typeof(given.v) = 'array' then given.v else '[]' end)
         with ordinality as e(v, n)
  union all
  select 1, k, k, null, e.v, given.v
    from given, jsonb_each(case when jsonb_typeof(given.v) = 'object' then given.v else '{}' end) as e(k, v)
  union all
  select 1, null, null, null, null, given.v from given
   where "outer" and (given.v is null or given.v in ('[]', '{}')) $$;

create function snow.to_timestamp_ntz(of numeric, scale numeric default 0) returns timestamp
  language sql immutable as $$ select to_timestamp((of / 10 ^ scale)::float8) at time zone 'utc' $$;
create function snow.to_timestamp_ntz(of text) returns timestamp language sql immutable as
  $$ select of::timestamptz at time zone 'utc' $$;
create function snow.to_timestamp_ntz(of timestamp) returns timestamp language sql immutable as $$ select of $$;
create function snow.substr(of text, at numeric) returns text language sql immutable as
  $$ select substr(of, at::int) $$;
create function snow.substr(of text, at numeric, long numeric) returns text language sql immutable as
  $$ select substr(of, at::int, long::int) $$;
create function snow.left(of text, long numeric) returns text language sql immutable as
  $$ select left(of, long::int) $$;
create function snow.right(of text, long numeric) returns text language sql immutable as
  $$ select right(of, long::int) $$;
create function snow.lpad(of text, long numeric, mark text) returns text language sql immutable as
  $$ select lpad(of, long::int, mark) $$;
create function snow.rpad(of text, long numeric, mark text) returns text language sql immutable as
  $$ select rpad(of, long::int, mark) $$;
create function snow.repeat(of text, times numeric) returns text language sql immutable as
  $$ select repeat(of, times::int) $$;
create function snow.power(of numeric, by numeric) returns float8 language sql immutable as
  $$ select power(of::float8, by::float8) $$;
create function snow.hash(of text) returns numeric language sql immutable as
  $$ select hashtextextended(of, 0)::numeric $$;
-- In Snowflake one null makes the answer null.
create function snow.greatest(variadic of anycompatiblearray) returns anycompatible language sql immutable as
  $$ select case when array_position(of, null) is null then (select max(v) from unnest(of) as v) end $$;
create function snow.least(variadic of anycompatiblearray) returns anycompatible language sql immutable as
  $$ select case when array_position(of, null) is null then (select min(v) from unnest(of) as v) end $$;

-- Snowflake takes a text for a number where one is wanted.
create cast (text as numeric) with inout as implicit;
create cast (varchar as numeric) with inout as implicit;
create cast (text as boolean) with inout as implicit;
create cast (text as timestamp) with inout as implicit;
create cast (text as timestamptz) with inout as implicit;

create function snow.swap_case(name text) returns text language sql immutable as
  $$ select string_agg(case when upper(c) = c then lower(c) else upper(c) end, '' order by n)
       from string_to_table(name, null) with ordinality as e(c, n) $$;
create view snow.is_tables as
  select current_database()::text as table_catalog, snow.swap_case(t.table_schema) as table_schema,
         snow.swap_case(t.table_name) as table_name,
         case t.table_type when 'VIEW' then 'VIEW' else 'BASE TABLE' end as table_type,
         case when s.kind = 'hybrid' then 'YES' else 'NO' end as is_hybrid,
         null::numeric as row_count, null::numeric as bytes
    from information_schema.tables as t
    left join snow.tables as s on s.place = t.table_schema || '.' || t.table_name
   where t.table_schema not in ('snow', 'pg_catalog', 'information_schema');
create view snow.is_columns as
  select snow.swap_case(table_schema) as table_schema, snow.swap_case(table_name) as table_name,
         snow.swap_case(column_name) as column_name, ordinal_position::numeric as ordinal_position,
         is_nullable::text, column_default::text,
         case data_type when 'numeric' then 'NUMBER' when 'jsonb' then 'VARIANT' when 'boolean' then 'BOOLEAN'
           when 'double precision' then 'FLOAT' when 'timestamp without time zone' then 'TIMESTAMP_NTZ'
           when 'timestamp with time zone' then 'TIMESTAMP_TZ' else 'TEXT' end as data_type
    from information_schema.columns
   where table_schema not in ('snow', 'pg_catalog', 'information_schema');
create view snow.is_schemata as
  select snow.swap_case(schema_name) as schema_name from information_schema.schemata
   where schema_name not in ('snow', 'pg_catalog', 'information_schema') and schema_name not like 'pg\_%';
`;
