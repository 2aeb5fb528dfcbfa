/** The script for zsh; each command and each option comes with what it is for. */
import type { Flag, Node } from './tree.ts';

export function zshScript(tree: readonly Node[]): string {
  return `#compdef fleetq
# Completion of fleetq for zsh: eval "$(fleetq completion zsh)", or a file _fleetq in the fpath.
_fleetq() {
  local at='' word prev=\${words[CURRENT - 1]}
  local -a commands options terms
  for word in \${words[2,CURRENT - 1]}; do
    case "$at/$word" in
      ${pathsOf(tree)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at:$prev" in
${tree.flatMap(valueCases).join('\n')}
  esac
  case "$at" in
${tree.map(nodeCase).join('\n')}
  esac
  if [[ $PREFIX == --* ]]; then
    _describe -o option options
  elif [[ $PREFIX == -* ]]; then
    _describe -o option options
    compadd -S '' -- \${terms/#/-}
  else
    (( \${#commands} )) && _describe command commands
    (( \${#terms} )) && compadd -S '' -- $terms
  fi
}
if [[ \${funcstack[1]} == _fleetq ]]; then _fleetq "$@"; else compdef _fleetq fleetq; fi
`;
}

function pathsOf(tree: readonly Node[]): string {
  return tree
    .flatMap(({ path, commands }) => commands.map(({ name }) => quoted(`${path}/${name}`)))
    .join(' | ');
}

function valueCases({ path, flags }: Node): string[] {
  return flags.flatMap(({ name, value }) =>
    value === 'none' ? [] : [`    ${quoted(`${path}:${name}`)}) ${answerOf(value)} return ;;`],
  );
}

function answerOf(value: Flag['value']): string {
  if (value === 'path') return '_files;';
  if (typeof value === 'string') return '';
  return `compadd -- ${value.join(' ')};`;
}

function nodeCase({ path, commands, flags, words }: Node): string {
  const listOf = (items: readonly { readonly name: string; readonly about: string }[]) =>
    items.map(({ name, about }) => quoted(`${name}:${about.replaceAll(':', '\\:')}`)).join(' ');
  return (
    `    ${quoted(path)}) commands=(${listOf(commands)}) options=(${listOf(flags)}) ` +
    `terms=(${words.map(quoted).join(' ')}) ;;`
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
