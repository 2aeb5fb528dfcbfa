/** Statements on machine_registry. */
import { sql } from './sql.ts';

/** $1 routes, $2 machines, $3 fingerprints. The first to announce a route is remembered. */
export const announceRoutes = sql`
  insert into machine_registry (route, machine, fingerprint)
  select * from unnest($1::text[], $2::text[], $3::text[]) as route (route, machine, fingerprint)
   order by route
  on conflict (route) do nothing`;

/** $1 machines. */
export const selectAbandoned = sql`
  select known.route from machine_registry known
   where known.machine = any ($1::text[]) and not exists (
     select 1 from pod_health pod where pod.status = 'up' and known.route = any (pod.routes))
   order by known.route`;
