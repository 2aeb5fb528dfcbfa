/** The store as it is without room for another pod: each insert into `pod_health` is refused, as by a full disk. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runOn } from '../../test/support/postgres.ts';
import { NO_ROOM } from './orders.ts';

/** To be installed before anything goes wrong: a switch that is a row needs no lock on the table. */
export const ROOM_SQL = `
  create table chaos_no_room (since timestamptz not null default clock_timestamp());
  create function chaos_refuse() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from chaos_no_room) then
      raise exception '${NO_ROOM}' using errcode = '53100';
    end if;
    return new;
  end $$;
  create trigger chaos_refuses before insert on pod_health
    for each row execute function chaos_refuse();`;

const AGAIN_MS = 100;
/** A store that is down is back within seconds. */
const TRIES_MAX = 1_200;

export function refusePods(url: string): Promise<void> {
  return untilDone(url, 'insert into chaos_no_room default values');
}

export function takePods(url: string): Promise<void> {
  return untilDone(url, 'delete from chaos_no_room');
}

async function untilDone(url: string, text: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await runOn(url, text);
      return;
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
