-- Four roles with no more rights than their work needs. Nobody logs in as one of them: give the users of
-- your programs the role they are to have, such as
--
--   create role app_worker login password '…' in role fleetq_worker;
--
-- Run this as the owner of the database, or a superuser, in the schema that FleetQ's tables are in (or will
-- be): before the first `fleetq migrate up`, and again after each one. It may be run as often as you like.
--
--   fleetq_migrate     owns the tables and changes them; for `fleetq migrate` alone
--   fleetq_worker      what pods, and people who act through them, need; no table is made or changed
--   fleetq_enqueue     puts tasks in by plain INSERT, and reads and changes nothing; none with a serial key, for
--                      such a row has to say that it waits, and who may say that could say that it has ended
--   fleetq_admin_read  looks at everything, and changes nothing
do $roles$
declare
  role_name text;
  ours text[] := array['step_tracker', 'pod_health', 'run_events', 'machine_registry', 'queue_limits', 'machine_pauses',
                       'signals', 'audit_log', 'leader_terms', 'bulk_operation', 'schedule', 'throttle_state', 'archive_sink', 'schema_version', 'queue_now', 'stuck_tasks', 'dead_letters'];
  place text := quote_ident(current_schema());
  found record;
begin
  foreach role_name in array array['fleetq_migrate', 'fleetq_worker', 'fleetq_enqueue', 'fleetq_admin_read']
  loop
    if not exists (select 1 from pg_roles where rolname = role_name) then
      execute format('create role %I nologin', role_name);
    end if;
    execute format('grant usage on schema %s to %I', place, role_name);
  end loop;

  -- Whose transactions are old is shown to nobody else. Granted by a superuser alone.
  begin
    grant pg_read_all_stats to fleetq_worker, fleetq_admin_read;
  exception when insufficient_privilege then
    raise notice 'not granted: pg_read_all_stats, so the age of the oldest transaction is not shown';
  end;

  -- Before Postgres 15 everybody might create tables in the schema public.
  execute format('revoke create on schema %s from public', place);
  execute format('grant create on schema %s to fleetq_migrate', place);

  for found in
    select relname as name, relkind as kind from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')
       and (relname = any (ours) or relname like 'fleetq\_%')
  loop
    execute format('alter %s %s.%I owner to fleetq_migrate',
                   case found.kind when 'v' then 'view' else 'table' end, place, found.name);
    execute format('revoke all on %s.%I from public, fleetq_worker, fleetq_enqueue, fleetq_admin_read',
                   place, found.name);
    execute format('grant select on %s.%I to fleetq_worker, fleetq_admin_read', place, found.name);
    if found.kind <> 'v' and found.name not in ('schema_version', 'audit_log') then
      execute format('grant insert, update, delete on %s.%I to fleetq_worker', place, found.name);
    end if;
    -- What somebody has done stays on record.
    if found.name = 'audit_log' then
      execute format('grant insert on %s.%I to fleetq_worker', place, found.name);
    end if;
    -- Only what a task is: neither who has it, nor how far it is, nor what became of it. The id is told, so
    -- that whoever enqueues can ask for it with `returning task_id`.
    if found.name = 'step_tracker' then
      execute format(
        'grant insert (task_id, machine, version, queue, priority, run_at, key, key_ms, payload,
                       retries_max, deadline_at, trace_parent),
               select (task_id) on %s.%I to fleetq_enqueue', place, found.name);
    end if;
  end loop;
end
$roles$;
