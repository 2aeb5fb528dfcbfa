/** node test/deploy/main.ts <directory>: the stages of deploy/Dockerfile, all of them, where there is no Docker. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { misused } from '../support/tool.ts';
import { layImage } from './image.ts';

const [directory, ...more] = process.argv.slice(2);
if (directory === undefined || more.length > 0) misused('node test/deploy/main.ts <directory>');
else if (existsSync(directory)) misused(`${directory} is there already`);
else process.stdout.write(`${layImage(resolve(directory), { fresh: true })}\n`);
