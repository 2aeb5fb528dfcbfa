/**
 * Chromium, as people have it: from CHROME_PATH, from the PATH, or from the Debian package; where it is
 * missing, root installs that if it can. Its headless shell has the same engine and no windows, and
 * takes half as long: where both are, it is taken.
 */
import { execFileSync } from 'node:child_process';

/** Undefined where it cannot be had; with CI=true that is an error. */
export function findChromium(): string | undefined {
  const given = process.env['CHROME_PATH'];
  if (given) return given;
  if (which() === undefined) install();
  const found = which();
  if (found !== undefined) return found;
  const message = 'Chromium is missing: apt-get install chromium';
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}; its tests are skipped\n`);
  return undefined;
}

const NAMES = 'chromium-headless-shell chromium chromium-browser google-chrome';

function which(): string | undefined {
  const find = `for name in ${NAMES}; do command -v $name && exit; done; exit 1`;
  try {
    return execFileSync('sh', ['-c', find], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function install(): void {
  if (process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const get = 'apt-get install -y --no-install-recommends fonts-dejavu-core';
  const either = `${get} chromium-headless-shell || ${get} chromium`;
  try {
    execFileSync('sh', ['-c', `${either} || (apt-get update; ${either})`], {
      env,
      stdio: 'ignore',
    });
  } catch {
    // Whoever asked sees that it is still missing.
  }
}

/**
 * The last list of its kind counts, so the driver's own is in it: what draws late, or asks other hosts.
 * And menus of the address bar, which each window loads as pages that nobody sees here.
 */
const WITHOUT = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'PaintHolding'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'ThirdPartyStoragePartitioning'],
  ...['LensOverlay', 'MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints'],
  ...['AimEnabled', 'PreconnectToSearch'],
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
];

export const CHROMIUM_ARGS = [
  ...['--no-sandbox', '--headless', '--disable-gpu', '--disable-quic', '--no-first-run'],
  `--disable-features=${WITHOUT.join(',')}`,
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
