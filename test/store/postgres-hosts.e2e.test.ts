/** Several servers in one address: which of them is written to. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { StoreOptionsError } from '../../src/store/errors.ts';
import { readPostgresWay } from '../../src/store/postgres/options.ts';
import { Pool } from '../../src/store/postgres/pool.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { options } from './postgres-harness.ts';

describe('an address with several hosts', () => {
  const read = (address: string) => readPostgresWay(address, options);

  test('is read as one address for each of them, without words that are for us', () => {
    const way = read('postgres://u:p%40@a:1,[::1]:2,c/db?target_session_attrs=read-write&schema=s');
    expect(way.urls).toEqual([
      'postgres://u:p%40@a:1/db',
      'postgres://u:p%40@[::1]:2/db',
      'postgres://u:p%40@c/db',
    ]);
    expect(way).toMatchObject({ url: way.urls[0], schema: 's' });
  });

  test('of one host is as it was', () => {
    expect(read('postgres://u@a/db').urls).toEqual(['postgres://u@a/db']);
  });

  test.each([
    'postgres://u@a,,b/db',
    `postgres://u@${Array.from({ length: 17 }, (_, n) => `h${n}`).join(',')}/db`,
    'postgres://u@a,b/db?target_session_attrs=standby',
    'postgres://u@a:x,b/db',
  ])('%s is refused in words', (address) => {
    expect(() => read(address)).toThrow(StoreOptionsError);
  });
});

describe('with real servers', () => {
  let cluster: PostgresCluster;
  const pools: Pool[] = [];
  beforeAll(async () => {
    cluster = await PostgresCluster.start({ standbys: 1, isQuorum: false });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await cluster.remove();
  }, 60_000);

  const open = () => {
    const way = readPostgresWay(cluster.urlOf('postgres'), { ...options, deadlineMs: 5_000 });
    const pool = new Pool(way, systemClock, systemRandom);
    pools.push(pool);
    return pool;
  };
  const portOf = async (pool: Pool) =>
    Number((await pool.query('select inet_server_port() as port'))[0]!['port']);
  const primaryPort = () => Number(new URL(cluster.primaryUrl()).port);

  test('the one that takes writes is found, and found again; one of an earlier timeline is not written to', async () => {
    const pool = open();
    expect(await portOf(pool)).toBe(primaryPort());
    await cluster.killPrimary();
    await expect(portOf(pool)).rejects.toMatchObject({ code: 'FLEETQ_STORE_UNREACHABLE' });
    await expect(portOf(open())).rejects.toThrow(
      /no server of the store takes writes \(.*: a standby/,
    );
    await cluster.promote();
    expect(await portOf(pool)).toBe(primaryPort());
    // The old one is started as if nothing had happened: now two of them take writes.
    await cluster.startAsItWas();
    expect(await portOf(open())).toBe(primaryPort());
    await pool.follow('00000001');
    await pool.follow('00000002');
    await cluster.killPrimary();
    await expect(portOf(pool)).rejects.toThrow();
    await expect(portOf(pool)).rejects.toThrow(/of the earlier timeline 1/);
  }, 120_000);
});
