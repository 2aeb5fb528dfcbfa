/**
 * Prometheus and its promtool, from the Debian package; where they are missing, root installs them
 * if it can. Nothing of it runs as a service.
 */
import { execFile, execFileSync } from 'node:child_process';

/** Undefined where they cannot be had; with CI=true that is an error. */
export function findPrometheus(): { prometheus: string; promtool: string } | undefined {
  if (which('promtool') === undefined) install();
  const [prometheus, promtool] = [which('prometheus'), which('promtool')];
  if (prometheus !== undefined && promtool !== undefined) return { prometheus, promtool };
  const message = 'Prometheus is missing: apt-get install prometheus';
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}; its tests are skipped\n`);
  return undefined;
}

function which(program: string): string | undefined {
  const path = `${process.env['PATH'] ?? ''}:/usr/bin:/usr/local/bin`;
  try {
    const env = { ...process.env, PATH: path };
    return execFileSync('sh', ['-c', `command -v ${program}`], { env, encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function install(): void {
  if (process.getuid?.() !== 0) return;
  // At run level 1 a package does not start what it brings: only its programs are wanted here.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const get = 'apt-get install -y --no-install-recommends prometheus';
  try {
    execFileSync('sh', ['-c', `${get} || (apt-get update && ${get})`], { env, stdio: 'ignore' });
  } catch {
    // Whoever asked sees that it is still missing.
  }
}

export interface Said {
  readonly code: number;
  readonly text: string;
}

const PROMTOOL_MS_MAX = 170_000;

/** Runs promtool to its end. */
export function runPromtool(promtool: string, args: readonly string[]): Promise<Said> {
  return new Promise((resolve) => {
    execFile(promtool, args, { timeout: PROMTOOL_MS_MAX }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, text: stdout + stderr });
    });
  });
}
