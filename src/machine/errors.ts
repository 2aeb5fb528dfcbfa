/** What can be wrong with a definition or with a value that a schema looks at. */
import { FleetqError, type FleetqErrorOptions, show } from '../ground/index.ts';

/** A definition that cannot become a machine; `path` leads to the fault. */
export class DefinitionError extends FleetqError {
  readonly code = 'FLEETQ_DEFINITION';
  readonly verdict = 'abort';
  readonly path: string;
  /** `got` in words, such as `show` finds for a value. */
  constructor(
    machine: string,
    path: string,
    wanted: string,
    got: string,
    options?: FleetqErrorOptions,
  ) {
    super(`machine ${show(machine)}: ${path} must be ${wanted}, got ${got}`, options);
    this.path = path;
  }
}

/** A value that its schema refuses. */
export class SchemaError extends FleetqError {
  readonly code = 'FLEETQ_SCHEMA';
  readonly verdict = 'abort';
  readonly issues: readonly string[];
  constructor(what: string, issues: readonly string[], options?: ErrorOptions) {
    super(`${what} does not fit its schema: ${issues.join('; ')}`, {
      ...options,
      hint: 'compare the value with the schema in the machine definition',
    });
    this.issues = issues;
  }
}

/** Two machines claim one name and version, or a machine is asked for that nobody registered. */
export class RegistryError extends FleetqError {
  readonly code = 'FLEETQ_REGISTRY';
  readonly verdict = 'abort';
}
