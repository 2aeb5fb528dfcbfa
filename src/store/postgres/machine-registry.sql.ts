/** Statements on machine_registry. */
import { msOf, sql } from './sql.ts';

/** $1 routes, $2 machines, $3 fingerprints, $4 shapes. The first to announce a route is remembered. */
export const announceRoutes = sql`
  insert into machine_registry (route, machine, fingerprint, shape)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
         as route (route, machine, fingerprint, shape)
   order by route
  on conflict (route) do nothing`;

/** $1 routes, $2 fingerprints: what was remembered of those that have another one. */
export const selectChanged = sql`
  select known.route, known.fingerprint, known.shape
    from unnest($1::text[], $2::text[]) with ordinality as asked (route, fingerprint, place)
    join machine_registry known using (route)
   where known.fingerprint <> asked.fingerprint
   order by asked.place`;

/** Every route, as it was announced first. */
export const selectKnown = sql`
  select route, fingerprint, shape, ${msOf('first_seen')} as first_seen
    from machine_registry order by route collate "C"`;

/** $1 machines. */
export const selectAbandoned = sql`
  select known.route from machine_registry known
   where known.machine = any ($1::text[]) and not exists (
     select 1 from pod_health pod where pod.status = 'up' and known.route = any (pod.routes))
   order by known.route`;
