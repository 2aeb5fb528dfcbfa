/** What the README shows happens as it says. */
import { performPages, useWorkspace } from './perform.ts';

performPages(['README.md'], useWorkspace());
