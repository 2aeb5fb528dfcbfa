/** The small steady load of `fleetq dev`: sample runs, some handed off, one failing now and then. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface Sample {
  readonly machine: string;
  readonly input: unknown;
}
interface Registry {
  readonly images: readonly {
    readonly name: string;
    readonly url: string;
    readonly sha256: string;
  }[];
  close(): Promise<void>;
}
interface RegistryModule {
  startSampleRegistry(options: {
    readonly port?: number;
    readonly imageBytes?: number;
    readonly bytesPerSecondMax?: number;
  }): Promise<Registry>;
}

interface Llm {
  readonly url: string;
  isRefusing: boolean;
  close(): Promise<void>;
}
interface LlmModule {
  startSampleLlm(options: { readonly port?: number }): Promise<Llm>;
}

const LLM = new URL('../../machines/llm-summarise/sample-llm.js', import.meta.url).href;
const LLM_PORT = 7435;
const REGISTRY = new URL('../../machines/image/sample-registry.js', import.meta.url).href;
/** The same at every start, so that an install that was left unfinished finds its registry again. */
const REGISTRY_PORT = 7434;
const IMAGE_BYTES = 384 * 1024;
/** Slow enough to be watched, and to be killed in the middle. */
const BYTES_PER_SECOND = 72 * 1024;
/** So many images are installed in turn; from the second round on some are there already. */
const HOME_COUNT = 24;
const FAIL_EVERY = 41;
const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Leslie', 'Frances'];

type Make = (turn: number) => Sample | Promise<Sample>;

export class Samples {
  readonly #root: string;
  readonly #registry: Registry;
  readonly #llm: Llm;
  #turn = 0;
  #imageCount = 0;

  private constructor(dataDir: string, registry: Registry, llm: Llm) {
    this.#root = join(resolve(dataDir), 'dev-images');
    this.#registry = registry;
    this.#llm = llm;
  }

  /** Starts the registry that the sample images come from, and the model that is asked for summaries. */
  static async open(dataDir: string): Promise<Samples> {
    const { startSampleRegistry } = (await import(REGISTRY)) as RegistryModule;
    const options = { imageBytes: IMAGE_BYTES, bytesPerSecondMax: BYTES_PER_SECOND };
    const registry = await startSampleRegistry({ ...options, port: REGISTRY_PORT }).catch(() =>
      startSampleRegistry(options),
    );
    const { startSampleLlm } = (await import(LLM)) as LlmModule;
    const llm = await startSampleLlm({ port: LLM_PORT }).catch(() => startSampleLlm({}));
    return new Samples(dataDir, registry, llm);
  }

  /** The model refuses every call from now on, or takes calls again; answers which. */
  toggleRefusals(): string {
    this.#llm.isRefusing = !this.#llm.isRefusing;
    return this.#llm.isRefusing
      ? 'the sample API answers 429 to all: its runs wait, and lose no attempt; t ends that'
      : 'the sample API takes calls again';
  }

  next(): Sample | Promise<Sample> {
    const turn = this.#turn++;
    if (turn % FAIL_EVERY === FAIL_EVERY - 1) {
      return { machine: 'sample/charge', input: { account: `a-${turn}`, cents: 250_000 } };
    }
    const makers = [
      ...[resize, image(this), lookup, hello],
      ...[image(this), this.#summary, flaky, charge],
    ];
    return makers[turn % makers.length]!(turn);
  }

  async close(): Promise<void> {
    await Promise.all([this.#registry.close(), this.#llm.close()]);
  }

  readonly #summary: Make = (turn) => ({
    machine: 'llm/summarise',
    input: { url: this.#llm.url, text: `${NAMES.join(', ')} met in room ${turn}. `.repeat(8) },
  });

  async image(): Promise<Sample> {
    const { images } = this.#registry;
    const count = this.#imageCount++;
    const { name, url, sha256 } = images[count % images.length]!;
    const home = `${name}-${count % HOME_COUNT}`;
    // Two rounds of three begin with nothing there; the third finds everything done, and hands off.
    if (Math.floor(count / HOME_COUNT) % 3 !== 2) {
      await rm(join(this.#root, home), { recursive: true, force: true });
    }
    return { machine: 'image/install', input: { url, sha256, name: home, root: this.#root } };
  }
}

const image =
  (samples: Samples): Make =>
  () =>
    samples.image();
const resize: Make = (turn) => ({
  machine: 'sample/resize',
  input: { id: turn, width: 320 + (turn % 8) * 160 },
});
const lookup: Make = (turn) => ({ machine: 'sample/lookup', input: { customer: turn } });
const hello: Make = (turn) => ({
  machine: 'hello',
  input: { name: NAMES[turn % NAMES.length] },
});
const flaky: Make = (turn) => ({
  machine: 'sample/flaky',
  input: { id: turn, failures: 1 + (turn % 3) },
});
const charge: Make = (turn) => ({
  machine: 'sample/charge',
  input: { account: `a-${turn}`, cents: 100 + turn },
});
