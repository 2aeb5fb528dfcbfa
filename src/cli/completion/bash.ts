/**
 * The script for bash, from version 3.2 on, which is what macOS has. It reads the line itself: bash
 * would part words at colons, and a filter is full of them.
 */
import type { Flag, Node } from './tree.ts';

export function bashScript(tree: readonly Node[]): string {
  return `# Completion of fleetq for bash: eval "$(fleetq completion bash)"
_fleetq() {
  local line=\${COMP_LINE:0:COMP_POINT} path='' cur='' prev='' commands='' options='' words=''
  local list='' index count typed=()
  IFS=$' \\t' read -ra typed <<< "$line"
  [[ $line == *[[:space:]] ]] && typed+=('')
  count=\${#typed[@]}
  cur=\${typed[count - 1]}
  prev=\${typed[count - 2]}
  for ((index = 1; index < count - 1; index++)); do
    case "$path/\${typed[index]}" in
      ${pathsOf(tree)}) path="\${path:+$path }\${typed[index]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path:$prev" in
${tree.flatMap(valueCases).join('\n')}
  esac
  case "$path" in
${tree.map(nodeCase).join('\n')}
  esac
  case "$cur" in
    --*) list=$options ;;
    # A filter's term may begin with a minus.
    -*) list=" $words" list="$options \${list// / -}" ;;
    *) list="$commands $words" ;;
  esac
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
  [[ \${COMPREPLY[0]} == *: ]] && compopt -o nospace 2> /dev/null
  # Where a colon parts words, bash replaces only what stands behind it.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local known=\${cur%"\${cur##*:}"}
    COMPREPLY=("\${COMPREPLY[@]#"$known"}")
  fi
}
complete -F _fleetq fleetq
`;
}

function pathsOf(tree: readonly Node[]): string {
  const pairs = tree.flatMap(({ path, commands }) =>
    commands.map(({ name }) => `'${path}/${name}'`),
  );
  return pairs.join(' | ');
}

function valueCases({ path, flags }: Node): string[] {
  return flags.flatMap(({ name, value }) => {
    if (value === 'none') return [];
    const pattern = `    '${path}:${name}')`;
    return [`${pattern} ${answerOf(value)} return ;;`];
  });
}

function answerOf(value: Flag['value']): string {
  if (value === 'path') return 'COMPREPLY=($(compgen -f -- "$cur"));';
  if (typeof value === 'string') return '';
  return `COMPREPLY=($(compgen -W '${value.join(' ')}' -- "$cur"));`;
}

function nodeCase({ path, commands, flags, words }: Node): string {
  const names = [
    `commands='${commands.map(({ name }) => name).join(' ')}'`,
    `options='${flags.map(({ name }) => name).join(' ')}'`,
    `words='${words.join(' ')}'`,
  ];
  return `    '${path}') ${names.join(' ')} ;;`;
}
