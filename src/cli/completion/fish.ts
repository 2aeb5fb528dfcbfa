/** The script for fish; each command and each option comes with what it is for. */
import type { Flag, Node } from './tree.ts';

export function fishScript(tree: readonly Node[]): string {
  return `# Completion of fleetq for fish: fleetq completion fish | source
function __fleetq_at
    set -l path
    for word in (commandline -opc)[2..-1]
        switch (string join / -- "$path" $word)
            case ${pathsOf(tree)}
                set path (string trim -- "$path $word")
        end
    end
    test "$path" = "$argv[1]"
end
complete -c fleetq -f
${tree.flatMap(linesOf).join('\n')}
`;
}

function pathsOf(tree: readonly Node[]): string {
  return tree
    .flatMap(({ path, commands }) => commands.map(({ name }) => quoted(`${path}/${name}`)))
    .join(' ');
}

function linesOf({ path, commands, flags, words }: Node): string[] {
  const head = `complete -c fleetq -n ${quoted(`__fleetq_at ${quoted(path)}`)}`;
  return [
    ...commands.map(({ name, about }) => `${head} -a ${name} -d ${quoted(about)}`),
    ...flags.map(
      (flag) => `${head} -l ${flag.name.slice(2)}${takes(flag)} -d ${quoted(flag.about)}`,
    ),
    ...(words.length > 0 ? [`${head} -a ${quoted(words.join(' '))}`] : []),
  ];
}

function takes({ value }: Flag): string {
  if (value === 'none') return '';
  if (value === 'path') return ' -r -F';
  return value === 'any' ? ' -x' : ` -x -a ${quoted(value.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
