/**
 * A primary and two standbys as one store at one address, behind which whoever is the primary answers, as
 * a service of a cluster has it. A commit is answered once one of the standbys has it. The primary can
 * crash and come back, or be killed while a standby takes over; then it comes back as a standby.
 */
import { randomBytes } from 'node:crypto';
import type { Crash, TestPostgres } from '../../test/support/postgres.ts';
import { PostgresCluster } from '../../test/support/postgres-cluster.ts';
import { StoreProxy } from './proxy.ts';

/** What a chaos run needs of its store; not every one can fail over. */
export interface ChaosStore extends TestPostgres {
  failOver?(): Promise<void>;
}

export class ClusterStore implements ChaosStore {
  readonly canCrash = true;
  readonly host = '127.0.0.1';
  readonly #cluster: PostgresCluster;
  readonly #front: StoreProxy;

  static async start(settings: readonly string[]): Promise<ClusterStore> {
    const cluster = await PostgresCluster.start({ standbys: 2, isQuorum: true, settings });
    const front = new StoreProxy({
      host: '127.0.0.1',
      get port() {
        return cluster.primaryPort;
      },
    });
    await front.start();
    return new ClusterStore(cluster, front);
  }

  private constructor(cluster: PostgresCluster, front: StoreProxy) {
    this.#cluster = cluster;
    this.#front = front;
  }

  get port(): number {
    return this.#front.port;
  }

  async createDatabase(): Promise<string> {
    const name = `fleetq_test_${randomBytes(6).toString('hex')}`;
    await this.#cluster.createDatabase(name);
    return `postgres://postgres@${this.host}:${this.port}/${name}`;
  }

  crash(how: Crash = 'kill'): Promise<void> {
    return this.#cluster.crashPrimary(how);
  }

  async start(): Promise<void> {
    await this.#cluster.startAsItWas();
    await this.#cluster.followed();
  }

  async failOver(): Promise<void> {
    await this.#cluster.killPrimary();
    await this.#cluster.promote();
    await this.#cluster.rejoin();
  }

  async remove(): Promise<void> {
    this.#front.stop();
    await this.#cluster.remove();
  }
}
